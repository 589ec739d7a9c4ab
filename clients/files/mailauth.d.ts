/** The part of mailauth, which ships no types, that clients/files/authentication.ts uses. */
declare module 'mailauth/lib/parse-dkim-headers.js' {
  type Finding = { value: string; header?: Readonly<Record<string, string>> };
  export default function parseHeader(line: string): {
    /** Of `Authentication-Results`: what was found of each signature. */
    parsed: { dkim?: readonly Finding[] };
    /** Of a list of tags, such as `DKIM-Signature`. */
    tags?: readonly { name: string; value: string }[];
    syntaxErrors?: readonly string[];
  };
}
