/** The common part of connected services' errors, so that deliveries and tasks treat them alike. */
export type ServiceFailure = {
  unauthorized?: boolean;
  permanent?: boolean;
  retryAfterMs?: number | undefined;
  status?: number;
  timedOut?: boolean;
  cause?: unknown;
};

/**
 * A request that a service refused or did not answer. The message contains the service's own words and is shown to
 * members.
 */
export class ServiceError extends Error {
  /** The service no longer accepts the credential. */
  readonly unauthorized: boolean;
  /** The same request would be refused again. */
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
