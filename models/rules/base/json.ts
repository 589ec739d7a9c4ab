/** Parses a JSON body; undefined for invalid JSON. */
export function jsonIn(body: string | Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
