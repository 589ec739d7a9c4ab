/** The jobs that a language model does. They fail with a Problem, and check what the model writes. */
import type { Ai } from './ai.ts';
import { answerByModel } from './chat/answer.ts';
import { chooseByModel } from './chat/tools.ts';
import { draftByModel } from './interviews/draft.ts';
import { scoreByModel, summaryByModel } from './interviews/evaluation.ts';
import { questionsByModel } from './interviews/questions.ts';
import { suggestByModel } from './interviews/suggestions.ts';
import { meetingByModel } from './interviews/summary.ts';
import { tasksByModel } from './interviews/tasks.ts';
import { reviewByModel } from './tasks/review.ts';
import type { ModelJobs } from '../fallback.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';

/** `embedding`: preselects tools when there are more than the model may be offered. */
export function createModel(ai: Ai, embedding: Pick<Embedding, 'local'>): ModelJobs {
  return {
    rewrite: async ({ body, history }, options) => ai.rewrite({ question: body, history }, options),
    answer: async (ask, options) => answerByModel(ai, ask, options),
    chooseTool: async (ask, options) => chooseByModel({ ai, embedding }, ask, options),
    draftInterview: async (ask) => draftByModel(ai, ask),
    writeQuestions: async (ask) => questionsByModel(ai, ask),
    suggest: async (ask) => suggestByModel(ai, ask),
    summarizeInterview: async (ask) => summaryByModel(ai, ask),
    score: async (ask) => scoreByModel(ai, ask),
    summarizeMeeting: async (ask) => meetingByModel(ai, ask),
    findTasks: async (ask) => tasksByModel(ai, ask),
    reviewTask: async (ask) => reviewByModel(ai, ask),
    asksModel: true,
  };
}
