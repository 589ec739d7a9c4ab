/** The part of aws4 that test/events/oracles.test.ts uses. The package has no types. */
declare module 'aws4' {
  type Request = {
    method: string;
    host: string;
    path: string;
    service: string;
    region: string;
    headers: Record<string, string>;
  };
  type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  export function sign(request: Request, credentials: Credentials): { headers: Record<string, string> };
}
