/** What errors of connected services have in common, so that deliveries and tasks judge them alike. */
export type ServiceFailure = {
  unauthorized?: boolean;
  permanent?: boolean;
  retryAfterMs?: number | undefined;
  status?: number;
  timedOut?: boolean;
  cause?: unknown;
};

/** A request that a service refused, or did not answer. The message has the service's own word, and is shown to members. */
export class ServiceError extends Error {
  /** The credential is not taken (any more). */
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
