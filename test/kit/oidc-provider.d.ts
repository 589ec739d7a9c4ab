/** The part of oidc-provider that test/kit/oidc-server.ts uses. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
  type Context = {
    path: string;
    req: IncomingMessage;
    res: ServerResponse;
    respond?: boolean;
    oidc: { session?: { accountId?: string }; client?: { clientId: string }; provider: Provider };
  };
  type Configuration = {
    clients: { client_id: string; client_secret: string; redirect_uris: string[] }[];
    claims: Record<string, string[]>;
    conformIdTokenClaims: boolean;
    cookies: { keys: string[] };
    features: { devInteractions: { enabled: boolean } };
    pkce: { required(): boolean };
    interactions: { url(ctx: Context, interaction: { uid: string }): string };
    findAccount(ctx: Context, sub: string): { accountId: string; claims(): Record<string, unknown> };
    loadExistingGrant(ctx: Context): Promise<Grant>;
  };

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    Grant: new (fields: { clientId: string; accountId: string }) => Grant;
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void;
    interactionFinished(
      req: IncomingMessage,
      res: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>;
    callback(): (req: IncomingMessage, res: ServerResponse) => void;
  }
}
