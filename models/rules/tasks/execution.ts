/**
 * Executing a task: which steps there are, what each outcome means, and when a failed attempt is made again. Pure;
 * workflows/tasks/taskexecution.ts tells the story, activities/tasks/ does the steps.
 */
import type { ExecutionStatus } from './task.ts';
import { providerNames, type IntegrationStatus } from '../integrations/integration.ts';

export const stepIntegrations = ['linear', 'github', 'slack', 'email'] as const;
export type StepIntegration = (typeof stepIntegrations)[number];

/**
 * `skipped`: it did not apply, such as a service that is not connected. `suppressed`: the organization is in test mode, or
 * nothing can send it; what would have left is stored as a delivery.
 */
export const stepStatuses = ['running', 'succeeded', 'failed', 'skipped', 'suppressed'] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** What executions did with one integration. */
export type Step = {
  integration: StepIntegration;
  status: StepStatus;
  /** Of all executions. */
  attempts: number;
  /** Of the execution that runs, or ran last. */
  tries: number;
  /** When the first attempt of all began: what it made is younger. */
  first_at?: Date;
  /** When the attempt began that is under way; one that died leaves it. */
  trying_at?: Date;
  /** Where it goes, once that is decided: each attempt goes to the same place. */
  target?: string;
  url?: string;
  error?: string;
  delivered_at?: Date;
};

/** What decides over a task's steps. */
export type Executable = {
  /** How the services that are connected, or were, stand. */
  connections: Readonly<Partial<Record<StepIntegration, IntegrationStatus>>>;
  email_execution_enabled: boolean;
  /** Whether there is an address to which the task can be mailed. */
  mailable: boolean;
};

/** Why a step is not taken; undefined when it is. */
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

/** The steps of an execution: those that succeeded before stay as they are, and all others are taken where they apply. */
export function planSteps(before: readonly Step[], executable: Executable): Step[] {
  return stepIntegrations.map((integration) => {
    const { url, delivered_at, ...standing } = before.find((step) => step.integration === integration) ?? {
      integration,
      attempts: 0,
    };
    if ('status' in standing && standing.status === 'succeeded')
      return {
        ...standing,
        ...(url === undefined ? {} : { url }),
        ...(delivered_at === undefined ? {} : { delivered_at }),
      };
    const { error: _, ...kept } = { error: undefined, ...standing };
    return { ...kept, tries: 0, ...(obstacle(integration, executable) ?? { status: 'running' as const }) };
  });
}

/** How an execution ended, or stands. One that did nothing has failed: its steps say why. */
export function executionOutcome(steps: readonly Step[]): ExecutionStatus {
  if (steps.some(({ status }) => status === 'running')) return 'running';
  if (steps.some(({ status }) => status === 'failed')) return 'failed';
  return steps.some(({ status }) => status === 'succeeded' || status === 'suppressed') ? 'completed' : 'failed';
}

const second = 1_000;
const minute = 60 * second;
/** Waits after the first, second, … failed attempt of an execution, in ms; there is none after the last one. */
const waits: Readonly<Record<StepIntegration, readonly number[]>> = {
  // An attempt may take several requests, of which each may fail.
  linear: [1, 5, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * second),
  // GitHub asks for a minute's patience where it limits content that is made.
  github: [1, 5, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * second),
  // One message a second and channel.
  slack: [1, 5, 15, 30, 60, 300].map((seconds) => seconds * second),
  // Mail servers that put a mail off (greylisting) take it after some minutes.
  email: [10 * second, minute, 5 * minute, 15 * minute, 60 * minute],
};
/** The attempts that one execution makes of a step at most. */
export const maxTries = (integration: StepIntegration): number => waits[integration].length + 1;

/** The longest wait that a service may ask for, in ms. */
const maxRetryAfterMs = 60 * minute;
/** A wait is prolonged by up to this part, so that what failed together does not come back together. */
const jitter = 0.2;

/**
 * An attempt that was not answered may still be worked on for so long, in ms: GitHub ends a request after 10 s. Until then
 * a look at what is there does not tell whether it arrived.
 */
export const unsettledMs = 10 * second;

/**
 * The wait after this many failed attempts, in ms; undefined when no further one follows. `unanswered`: the attempt may
 * have arrived. `random`: from 0 up to 1.
 */
export function stepWaitMs(
  integration: StepIntegration,
  tries: number,
  { retryAfterMs, unanswered, random }: { retryAfterMs: number | undefined; unanswered: boolean; random: number },
): number | undefined {
  const wait = waits[integration][tries - 1];
  if (wait === undefined) return undefined;
  const asked = Math.min(retryAfterMs ?? 0, maxRetryAfterMs);
  return Math.round(Math.max(wait, asked, unanswered ? unsettledMs : 0) * (1 + jitter * random));
}
