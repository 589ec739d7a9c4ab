/**
 * What happens when a model fails: it is logged, the job is done offline, and the answer to a customer notes why (`model_error`).
 * The customer sees an answer in the sources' own sentences in place of what was shown of the model's. An abort is no failure, nor
 * is an error of whoever listens.
 */
import type { AnswerOptions, Intelligence, Job, JobOptions, Listener } from './intelligence.ts';
import { Problem } from '../models/rules/base/errors.ts';

/**
 * The jobs that a model does. Messages are read and meetings are named without one, because a model would be asked before each
 * answer, and each time that a transcript grows.
 */
export type ModelJobs = Omit<Intelligence, 'read' | 'titleMeeting'>;

/** Is told of each failure. */
export type Failed = (job: keyof ModelJobs, error: Problem, about: JobOptions['about']) => void;

export function withFallback(model: ModelJobs, offline: Intelligence, failed: Failed): Intelligence {
  /** What does the job instead is given the failure. */
  async function unlessItFails<T>(
    job: keyof ModelJobs,
    { signal, about }: JobOptions,
    byModel: () => Promise<T>,
    instead: (error: Problem) => Promise<T>,
  ): Promise<T> {
    try {
      return await byModel();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Problem)) throw error;
      failed(job, error, about);
      return instead(error);
    }
  }

  const orOffline =
    <Ask, Done>(name: keyof ModelJobs, byModel: Job<Ask, Done>, byRules: Job<Ask, Done>): Job<Ask, Done> =>
    async (ask, options = {}) =>
      unlessItFails(
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
    suggest: orOffline('suggest', model.suggest, offline.suggest),
    summarizeInterview: orOffline('summarizeInterview', model.summarizeInterview, offline.summarizeInterview),
    score: orOffline('score', model.score, offline.score),
    titleMeeting: offline.titleMeeting,
    summarizeMeeting: orOffline('summarizeMeeting', model.summarizeMeeting, offline.summarizeMeeting),
    findTasks: orOffline('findTasks', model.findTasks, offline.findTasks),
    reviewTask: orOffline('reviewTask', model.reviewTask, offline.reviewTask),
    mayImprove: model.mayImprove,
  };
}

/** The same options with a listener that knows whether what was shown has to be taken back. */
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
