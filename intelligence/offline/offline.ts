/**
 * All jobs that need language understanding, without a language model: by local embedding models if available, by word
 * lists and by rules.
 */
import { draftWords } from './interviews/draft.ts';
import { questionsFor } from './interviews/questions.ts';
import { answersOf, recognizeQuestion } from './interviews/recognizing.ts';
import { score, type Embed } from './interviews/score.ts';
import { suggestionsFor } from './interviews/suggestions.ts';
import { summarizeInterview } from './interviews/summarize.ts';
import { answerFromSources } from './knowledge/answer.ts';
import { readMessage } from './language/reading.ts';
import { chooseByRules } from './mcp/choose.ts';
import { titleOf, utterancesOf } from './meetings/digest.ts';
import { doOnTranscript } from './meetings/thread.ts';
import { findingsOf } from './review.ts';
import type { Intelligence } from '../intelligence.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import { models } from '../../clients/embedding/vectors.ts';
import { concluded, wordsOf } from '../../models/rules/interviews/evaluation.ts';

const by = { generated_by: 'extractive' } as const;

export function createOffline(deps: { embedding: Pick<Embedding, 'model' | 'local'> }): Intelligence {
  return {
    read: async ({ body, history }) => readMessage(deps, body, history),
    rewrite: async ({ read }) => read.searched,
    answer: async (ask, options) => answerFromSources(deps, ask, options),
    chooseTool: async ({ toolbox, ...asked }) => chooseByRules(deps, asked, toolbox),
    draftInterview: async ({ prompt }) => ({ words: { ...draftWords(prompt), when: prompt }, ...by }),
    writeQuestions: async (order) => ({ questions: questionsFor(order), ...by }),
    recognizeQuestion: async (ask) => recognizeQuestion(ask),
    suggest: async (ask) => suggestionsFor(ask),
    summarizeInterview: async (interviewed) => ({ ...summarizeInterview(interviewed), ...by }),
    async score({ interviewed, role }) {
      if (wordsOf(interviewed).length === 0) return undefined;
      const scored = await score({ ...interviewed, role }, embedOf(deps.embedding));
      const concludes = concluded(scored, 'undecided', answersOf(interviewed));
      return { ...concludes, generated_by: 'rules', confidence: 'low' };
    },
    titleMeeting: async ({ said }) => titleOf(utterancesOf(beginning(said))),
    summarizeMeeting: async (ask) => ({ ...(await doOnTranscript('summarizeMeeting', ask)), ...by }),
    findTasks: async (ask) => ({ ...(await doOnTranscript('findTasks', ask)), ...by }),
    reviewTask: async ({ task, today }) => ({ ...findingsOf(task, today), ...by }),
    asksModel: false,
  };
}

/** A title is made from at most this many characters of a transcript, which take some 20 ms. */
const titleCharacters = 50_000;

function beginning<Spoken extends { text: string }>(said: readonly Spoken[]): Spoken[] {
  let left = titleCharacters;
  return said.filter(({ text }) => (left -= text.length) >= 0);
}

/**
 * Embeds with the model me5 only, because me5 separates subjects best. A vector of `reading` holds the numbers of
 * several models; those of me5 come first.
 */
function embedOf({ local }: Pick<Embedding, 'local'>): Embed | undefined {
  if (local === undefined) return undefined;
  const { dimensions } = models.me5;
  return async (texts) => Promise.all(texts.map(async (text) => (await local.reading(text)).subarray(0, dimensions)));
}
