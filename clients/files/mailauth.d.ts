/** Types for the part of mailauth that clients/files/authentication.ts uses; the library ships none. */
declare module 'mailauth/lib/parse-dkim-headers.js' {
  type Finding = { value: string; header?: Readonly<Record<string, string>> };
  export default function parseHeader(line: string): {
    /** The results for each signature, from an `Authentication-Results` header. */
    parsed: { dkim?: readonly Finding[] };
    /** The tags of a header such as `DKIM-Signature`. */
    tags?: readonly { name: string; value: string }[];
    syntaxErrors?: readonly string[];
  };
}
