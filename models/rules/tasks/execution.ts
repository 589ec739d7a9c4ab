/**
 * The execution of a task: its steps, the meaning of each outcome, and the retries. Pure;
 * workflows/tasks/taskexecution.ts runs the steps, which activities/tasks/ implements.
 */
import type { ExecutionStatus } from './task.ts';
import type { Refusal } from '../events/delivery.ts';
import { waitOf } from '../events/schedule.ts';
import { providerNames, type IntegrationStatus } from '../integrations/integration.ts';
import { defined } from '../base/defined.ts';

export const stepIntegrations = ['linear', 'github', 'slack', 'email'] as const;
export type StepIntegration = (typeof stepIntegrations)[number];

/**
 * `skipped`: the step does not apply, for example because the service is not connected. `suppressed`: the organization
 * is in test mode, or there is no way to send; the message is stored as a delivery that is never sent.
 */
export const stepStatuses = ['running', 'succeeded', 'failed', 'skipped', 'suppressed'] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** The state of the step for one integration, over all executions of the task. */
export type Step = {
  integration: StepIntegration;
  status: StepStatus;
  /** The number of attempts in all executions. */
  attempts: number;
  /** The number of attempts in the current or latest execution. */
  tries: number;
  /**
   * When the very first attempt began. An object that the step created is younger than this, which narrows the search
   * for the object.
   */
  first_at?: Date;
  /**
   * When the running attempt began. It stays set when the process of the attempt dies, which shows that the attempt has
   * no known result.
   */
  trying_at?: Date;
  /** The destination, fixed by the first attempt, so that retries go to the same place. */
  target?: string;
  /**
   * A digest of the facts by which `target` was chosen. When these facts have changed, a retry chooses the destination
   * anew.
   */
  target_of?: string;
  url?: string;
  error?: string;
  delivered_at?: Date;
};

/** The facts that decide which steps of a task are taken. */
export type Executable = {
  /** The status of each connected, or formerly connected, service. */
  connections: Readonly<Partial<Record<StepIntegration, IntegrationStatus>>>;
  email_execution_enabled: boolean;
  /** Whether the task has an assignee with an address for mail. */
  mailable: boolean;
};

/** Why a step is not taken; undefined when it is taken. */
function obstacle(
  integration: StepIntegration,
  { connections, email_execution_enabled, mailable }: Executable,
): { status: 'skipped' | 'failed'; error: string } | undefined {
  if (integration === 'email') {
    if (!email_execution_enabled)
      return { status: 'skipped', error: 'Mail is not allowed for this task: email_execution_enabled is false.' };
    return mailable ? undefined : { status: 'skipped', error: 'There is nobody to mail it to.' };
  }
  const status = connections[integration] ?? 'disconnected';
  if (status === 'disconnected') return { status: 'skipped', error: `${providerNames[integration]} is not connected.` };
  if (status === 'broken')
    return { status: 'failed', error: `${providerNames[integration]} has to be connected again.` };
  return undefined;
}

/**
 * The steps of a new execution. Steps that succeeded before are kept; all other steps are taken again when nothing
 * prevents them (`obstacle`).
 */
export function planSteps(before: readonly Step[], executable: Executable): Step[] {
  return stepIntegrations.map((integration) => {
    const { url, delivered_at, ...standing } = before.find((step) => step.integration === integration) ?? {
      integration,
      attempts: 0,
    };
    if ('status' in standing && standing.status === 'succeeded')
      return {
        ...standing,
        ...defined({ url, delivered_at }),
      };
    const { error: _, ...kept } = { error: undefined, ...standing };
    return { ...kept, tries: 0, ...(obstacle(integration, executable) ?? { status: 'running' as const }) };
  });
}

/**
 * The status of an execution. It has failed when a step failed or when no step was carried out. The `error` of each
 * step says why.
 */
export function executionOutcome(steps: readonly Step[]): ExecutionStatus {
  if (steps.some(({ status }) => status === 'running')) return 'running';
  if (steps.some(({ status }) => status === 'failed')) return 'failed';
  return steps.some(({ status }) => status === 'succeeded' || status === 'suppressed') ? 'completed' : 'failed';
}

const second = 1_000;
const minute = 60 * second;
/** The backoff after each failed attempt of an execution, in ms; a step has one attempt more than there are waits. */
const waits: Readonly<Record<StepIntegration, readonly number[]>> = {
  // An attempt for Linear may need several requests, each of which may fail, so many attempts are made.
  linear: [1, 5, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * second),
  // GitHub asks clients to wait a minute when it limits content creation.
  github: [1, 5, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * second),
  // Slack allows one message a second per channel.
  slack: [1, 5, 15, 30, 60, 300].map((seconds) => seconds * second),
  // Mail servers with greylisting accept a mail after some minutes.
  email: [10 * second, minute, 5 * minute, 15 * minute, 60 * minute],
};
/** The maximum number of attempts of a step in one execution. */
export const maxTries = (integration: StepIntegration): number => waits[integration].length + 1;

/** The longest `Retry-After` that is obeyed, in ms. */
const maxRetryAfterMs = 60 * minute;

/**
 * How long a service may still process an unanswered request, in ms; GitHub ends a request after 10 s. Until then, a
 * search does not show whether the request succeeded.
 */
export const unsettledMs = 10 * second;

/**
 * The wait after `tries` failed attempts, in ms; undefined when no retry follows. `unanswered`: the request got no
 * answer, so it may have succeeded. `random`: from 0 up to 1.
 */
export function stepWaitMs(
  integration: StepIntegration,
  tries: number,
  { retryAfterMs, unanswered, random }: { retryAfterMs: number | undefined; unanswered: boolean; random: number },
): number | undefined {
  const wait = waits[integration][tries - 1];
  if (wait === undefined) return undefined;
  return waitOf(unanswered ? Math.max(wait, unsettledMs) : wait, retryAfterMs, maxRetryAfterMs, random);
}

/**
 * Whether no retry follows. Unlike a delivery, a step does not wait for a new credential: the task is executed again
 * after the service is connected.
 */
export const isFinal = ({ permanent = false, unauthorized = false }: Refusal): boolean => permanent || unauthorized;
