/** The only place where a thrown value becomes a status and a JSON body. */
import { count } from '../../clients/base/meter.ts';
import { isDuplicate } from '../../models/base/connect.ts';
import { Problem, type Detail } from '../../models/rules/base/errors.ts';

export type ErrorBody = { error: string; code: string; details?: Detail[]; request_id: string } & Record<
  string,
  unknown
>;

/**
 * Turns a thrown value into a problem. An unexpected error becomes `INTERNAL`, whose reply reveals nothing about the
 * error.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDuplicate(error))
    return new Problem('CONFLICT', { message: 'Another request was faster; try again.', cause: error });
  const name = (error as { name?: string } | null)?.name ?? '';
  if (
    /^Mongo(Network|ServerSelection|NotConnected|WriteConcern|PoolCleared|Topology)/.test(name) ||
    name === 'MongooseServerSelectionError'
  ) {
    return new Problem('UNAVAILABLE', { cause: error });
  }
  // Koa's own refusals (a malformed path, an aborted request) carry a status under 500.
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 413) return new Problem('TOO_LARGE', { cause: error });
  if (typeof status === 'number' && status >= 400 && status < 500) return new Problem('VALIDATION', { cause: error });
  return new Problem('INTERNAL', { cause: error });
}

/** Adds a refusal because of a used-up quota to the metrics. */
export function countRefusal({ quota }: Problem): void {
  if (quota !== undefined) count('quota_refusals_total', { quota });
}

export function errorBody(problem: Problem, requestId: string): ErrorBody {
  return {
    error: problem.message,
    code: problem.code,
    ...(problem.details ? { details: problem.details } : {}),
    ...problem.extra,
    request_id: requestId,
  };
}
