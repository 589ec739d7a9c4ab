/**
 * What an integration is to the machinery that executes tasks (activities/tasks/execution.ts): how a task is sent there. Claims, attempts,
 * waits and test mode are the machinery's, not a runner's.
 */
import type { Logger } from 'pino';
import { breakConnection } from './broken.ts';
import type { MailSettings } from '../mail/settings.ts';
import type { ServiceError } from '../../clients/http/serviceerror.ts';
import type { Github } from '../github/client.ts';
import type { Linear } from '../linear/client.ts';
import type { Mailer } from '../mail/client.ts';
import type { Slack } from '../slack/client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { credentialsOf, findIntegration, type Integration } from '../../models/integrations/integration.ts';
import type { ExternalLink, Task } from '../../models/tasks/task.ts';
import type { StepRef } from '../../models/tasks/execution.ts';
import type { Mode } from '../../models/rules/access/keys.ts';
import type { OutgoingRequest } from '../../models/rules/events/delivery.ts';
import { providerNames } from '../../models/rules/integrations/integration.ts';
import type { Step } from '../../models/rules/tasks/execution.ts';
import type { TaskTold } from '../../models/rules/tasks/tasktext.ts';

export type StepDeps = {
  linear: Linear;
  github: Github;
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  mailer: Mailer;
  mail: MailSettings;
  /** Where this system is reached from outside. */
  publicUrl: string;
  secrets: SecretBox;
  clock: () => Date;
  log: Logger;
};

export type StepCall = {
  ref: StepRef;
  task: Task;
  step: Step;
  told: TaskTold;
  /** The address of whoever is to do it. */
  email: string | undefined;
  organization: string;
  mode: Mode;
  /** Whether an earlier attempt may have arrived. */
  again: boolean;
  deps: StepDeps;
  signal: AbortSignal;
};

/** What the service made of the task. */
export type Made = { url?: string; link?: ExternalLink };
/** What would leave, as it is stored in test mode. */
export type Preview = { destination: string; request: OutgoingRequest };

export type StepRunner = {
  /** Whether nothing could send it, as without a mail server: it is treated as in test mode. */
  unsendable?(call: StepCall): Promise<boolean>;
  /** @throws StepRefused, StepSkipped */
  preview(call: StepCall): Promise<Preview>;
  /** @throws StepRefused when the service did not take it, StepSkipped when there is nowhere to send it. */
  send(call: StepCall): Promise<Made>;
};

/** An attempt that failed; its message is shown to members. */
export class StepRefused extends Error {
  override readonly name = 'StepRefused';
  /** Further attempts would end the same way. */
  readonly permanent: boolean;
  readonly retryAfterMs: number | undefined;
  /** Whether it may have arrived. */
  readonly unanswered: boolean;

  constructor(
    message: string,
    about: { permanent?: boolean; retryAfterMs?: number | undefined; unanswered?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: about.cause });
    this.permanent = about.permanent ?? false;
    this.retryAfterMs = about.retryAfterMs;
    this.unanswered = about.unanswered ?? false;
  }
}

/** The step does not apply; the message says why. */
export class StepSkipped extends Error {
  override readonly name = 'StepSkipped';
}

/** The connection of the moment and its credentials. @throws StepRefused when there is none that works. */
export async function connectionTo(
  orgId: string,
  provider: 'linear' | 'github' | 'slack',
  { secrets }: Pick<StepDeps, 'secrets'>,
): Promise<{ integration: Integration; credentials: unknown }> {
  const integration = await findIntegration(orgId, provider);
  const sealed = integration?.sealed;
  if (!integration || sealed === undefined)
    throw new StepRefused(`${providerNames[provider]} is not connected any more.`, { permanent: true });
  if (integration.status === 'broken')
    throw new StepRefused(`${providerNames[provider]} has to be connected again.`, { permanent: true });
  return { integration, credentials: credentialsOf({ ...integration, sealed }, secrets) };
}

/** The failure as the machinery takes it. A credential that is refused breaks the connection, and ends the step. */
export async function refusedBy(
  error: ServiceError,
  integration: Integration,
  deps: Pick<StepDeps, 'clock' | 'log'>,
): Promise<StepRefused> {
  const { message, unauthorized, permanent, retryAfterMs, status } = error;
  if (unauthorized) await breakConnection(integration, message, deps);
  const unanswered = status === undefined || status >= 500;
  return new StepRefused(message, { permanent: permanent || unauthorized, retryAfterMs, unanswered, cause: error });
}
