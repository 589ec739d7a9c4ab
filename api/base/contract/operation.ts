/**
 * An operation of the API: what a route serves, and what a command of the CLI or the team page calls. The contract of a
 * slice exports each operation under the operation's `name`.
 */
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The method, and the path as in the specification, below `/v1`: `GET /orgs/{orgId}/documents`. */
export type Head = `${Method} /${string}`;

type Schemas<P, Q, B, U, W, R> = {
  /** The schema of the path parameters, needed when one of them is no id. */
  params?: P;
  /** All query parameters, each at most once. Any other parameter is refused, on operations without `query` too. */
  query?: Q;
  /** The schema of a JSON body, or of the form's text fields when `upload` is true. */
  body?: B;
  /** Whether the body is a multipart form with one file in the field `file`. */
  upload?: U;
  /** Whether the body is taken as raw bytes; such an operation has no `body`. */
  raw?: W;
  /** The schema of the reply. It drops the fields that it does not list, so a handler may return a whole record. */
  reply: R;
};

export type Operation<
  H extends Head = Head,
  P extends z.ZodObject | undefined = z.ZodObject | undefined,
  Q extends z.ZodObject | undefined = z.ZodObject | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  U extends boolean = boolean,
  W extends boolean = boolean,
  R extends z.ZodObject = z.ZodObject,
> = Schemas<P, Q, B, U, W, R> & {
  /** A verb and a noun; also the OpenAPI operationId. */
  name: string;
  head: H;
};

/** The names in the braces of a path. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

export const operation = <
  const H extends Head,
  R extends z.ZodObject,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  const U extends boolean = false,
  const W extends boolean = false,
>(
  name: string,
  head: H,
  schemas: Schemas<P, Q, B, U, W, R>,
): Operation<H, P, Q, B, U, W, R> => ({ name, head, ...schemas });
