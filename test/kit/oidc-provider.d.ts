/** The part of oidc-provider that tests use. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export type Grant = {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  };
  type Context = {
    path: string;
    req: IncomingMessage;
    res: ServerResponse;
    respond?: boolean;
    oidc: { session?: { accountId?: string }; client?: { clientId: string }; provider: Provider };
  };
  export type Configuration = {
    findAccount(ctx: Context, sub: string): { accountId: string; claims(): Record<string, unknown> };
    loadExistingGrant?(ctx: Context): Promise<Grant>;
    interactions?: { url(ctx: Context, interaction: { uid: string }): string };
    [setting: string]: unknown;
  };

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    Grant: new (fields: { clientId: string; accountId: string }) => Grant;
    on(event: string, listener: (...given: never[]) => void): void;
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
