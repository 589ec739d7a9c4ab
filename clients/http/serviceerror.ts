/** The common base of connected services' errors, so that deliveries and tasks treat all services alike. */
export type ServiceFailure = {
  unauthorized?: boolean;
  permanent?: boolean;
  retryAfterMs?: number | undefined;
  status?: number;
  timedOut?: boolean;
  cause?: unknown;
};

/** A request that a service refused or did not answer. The message quotes the service and is shown to members. */
export class ServiceError extends Error {
  /** Whether the service no longer accepts the credential. */
  readonly unauthorized: boolean;
  /** Whether a retry of the same request would be refused too. */
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly timedOut: boolean;

  constructor(message: string, about: ServiceFailure = {}) {
    super(message, { cause: about.cause });
    this.unauthorized = about.unauthorized ?? false;
    this.permanent = about.permanent ?? false;
    this.retryAfterMs = about.retryAfterMs;
    this.status = about.status;
    this.timedOut = about.timedOut ?? false;
  }
}
