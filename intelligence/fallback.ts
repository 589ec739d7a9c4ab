/**
 * When a model fails, the failure is logged and the job is done offline (without a model). An offline answer to a
 * customer notes the reason in `model_error`, and replaces any text of the model that the customer has already seen. A
 * model that timed out or could not be reached is not asked again for the same message, so a customer waits for the
 * time limit at most once. An abort, and any error that is no `Problem`, is rethrown.
 */
import type { AnswerOptions, AtOnce, Intelligence, Job, JobOptions, Listener } from './intelligence.ts';
import { isSilence } from '../clients/openai/failures.ts';
import { Problem } from '../models/rules/base/errors.ts';

/**
 * The jobs that a model does. Three jobs are always done offline, because they run too often for a model. Messages are
 * read before each answer, questions are recognized for each message in a room, and meetings are named each time a
 * transcript grows.
 */
export type ModelJobs = Omit<Intelligence, 'read' | 'recognizeQuestion' | 'titleMeeting'>;

/** Called for each failure of the model. */
export type Failed = (job: keyof ModelJobs, error: Problem, about: JobOptions['about']) => void;

export function withFallback(model: ModelJobs, offline: Intelligence, failed: Failed): Intelligence {
  /** Runs the job by the model. If the model fails, runs `instead`, the offline job. */
  async function unlessItFails<T>(
    job: keyof ModelJobs,
    { signal, about, patience = {} }: JobOptions,
    byModel: () => Promise<T>,
    instead: (error: Problem) => Promise<T>,
  ): Promise<T> {
    try {
      if (patience.lost) throw patience.lost;
      return await byModel();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Problem)) throw error;
      if (isSilence(error)) patience.lost = error;
      failed(job, error, about);
      return instead(error);
    }
  }

  const orOffline =
    <Ask, Done>(name: keyof ModelJobs, byModel: Job<Ask, Done>, byRules: Job<Ask, Done>): Job<Ask, Done, AtOnce> =>
    async (ask, options = {}) =>
      options.atOnce
        ? byRules(ask, options)
        : unlessItFails(
            name,
            options,
            () => byModel(ask, options),
            () => byRules(ask, options),
          );

  return {
    read: offline.read,
    rewrite: orOffline('rewrite', model.rewrite, offline.rewrite),
    async answer(ask, options = {}) {
      if (options.atOnce) return offline.answer(ask, options);
      const noting = noteShown(options);
      return unlessItFails(
        'answer',
        options,
        () => model.answer(ask, noting.options),
        async ({ message }) => {
          await noting.takeBack();
          const written = await offline.answer(ask, options);
          return { ...written, by: { ...written.by, model_error: message } };
        },
      );
    },
    chooseTool: orOffline('chooseTool', model.chooseTool, offline.chooseTool),
    draftInterview: orOffline('draftInterview', model.draftInterview, offline.draftInterview),
    writeQuestions: orOffline('writeQuestions', model.writeQuestions, offline.writeQuestions),
    recognizeQuestion: offline.recognizeQuestion,
    suggest: orOffline('suggest', model.suggest, offline.suggest),
    summarizeInterview: orOffline('summarizeInterview', model.summarizeInterview, offline.summarizeInterview),
    score: orOffline('score', model.score, offline.score),
    titleMeeting: offline.titleMeeting,
    summarizeMeeting: orOffline('summarizeMeeting', model.summarizeMeeting, offline.summarizeMeeting),
    findTasks: orOffline('findTasks', model.findTasks, offline.findTasks),
    reviewTask: orOffline('reviewTask', model.reviewTask, offline.reviewTask),
    asksModel: true,
  };
}

/** Wraps the listener of the options, so that text that was already shown can be withdrawn. */
function noteShown(options: AnswerOptions): { options: AnswerOptions; takeBack(): Promise<void> } {
  const { listener } = options;
  if (!listener) return { options, takeBack: async () => undefined };
  let shown = false;
  const noting: Listener = {
    piece: (text) => ((shown = true), listener.piece(text)),
    again: () => ((shown = false), listener.again()),
  };
  return {
    options: { ...options, listener: noting },
    takeBack: async () => (shown ? listener.again() : undefined),
  };
}
