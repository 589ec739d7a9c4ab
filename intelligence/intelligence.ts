/**
 * The interface of all jobs that need language understanding, one method per job. `model/` asks a language model,
 * `offline/` works without one, and `withFallback` (fallback.ts) tries the model first. Types only.
 */
import type { Person } from './offline/meetings/people.ts';
import type { Findings, Reviewed } from './offline/review.ts';
import type { DraftWords } from '../models/rules/interviews/draft.ts';
import type { Evaluation, Interviewed, QaSummary } from '../models/rules/interviews/evaluation.ts';
import type { FoundTask, PossibleTask } from '../models/rules/interviews/found.ts';
import type { NewQuestion, Question } from '../models/rules/interviews/questions.ts';
import type { SummaryMode, SummaryText } from '../models/rules/interviews/summary.ts';
import type { Said } from '../models/rules/interviews/transcript.ts';
import type { Offer } from '../models/rules/knowledge/offers.ts';
import type { Confidence, Judged } from '../models/rules/knowledge/retrieval.ts';
import type { Asking } from '../models/rules/language/asking.ts';
import type { InterviewLanguage, Language } from '../models/rules/language/language.ts';
import type { ToolResult } from '../models/rules/mcp/result.ts';
import type { ApprovedTool, Outcome, RiskTier } from '../models/rules/mcp/tool.ts';

export type Intelligence = {
  /** Reads a message: its intent, its language, and the texts to search for. */
  read: Job<ReadAsk, ReadMessage>;
  /** Rewrites a message that refers to earlier messages as a self-contained question. */
  rewrite: Job<RewriteAsk, string>;
  /** Writes an answer from the retrieved passages. */
  answer: Job<AnswerAsk, Written, AnswerOptions>;
  /** Chooses the tool that a message asks for or, once tools have returned, writes an answer from their results. */
  chooseTool: Job<ToolAsk, Choice>;
  /** Extracts the settings of an interview from a description. */
  draftInterview: Job<{ prompt: string }, InterviewWords>;
  writeQuestions: Job<QuestionsAsk, WrittenQuestions, AtOnce>;
  /** The id of the prepared question that an interviewer's message asks, if it was not asked before; else undefined. */
  recognizeQuestion: Job<RecognizeAsk, string | undefined>;
  /** Suggests questions that an interviewer could ask next. */
  suggest: Job<SuggestAsk, Suggestion[]>;
  summarizeInterview: Job<Interviewed, Omit<QaSummary, 'generated_at'>>;
  /** Undefined when the candidate said nothing. */
  score: Job<ScoreAsk, Omit<Evaluation, 'generated_at'> | undefined>;
  /** A phrase of the transcript that names the meeting; undefined when no phrase fits. */
  titleMeeting: Job<{ said: readonly Said[] }, string | undefined>;
  summarizeMeeting: Job<MeetingAsk, MeetingSummary>;
  /** Finds the tasks that people commit to in a meeting. */
  findTasks: Job<TasksAsk, FoundTasks>;
  /** Finds what is missing or vague in a task. */
  reviewTask: Job<ReviewAsk, TaskReview>;
  /**
   * Whether a model does the jobs. If so, a job may take seconds, and a caller may repeat a job whose result came from
   * the offline fallback.
   */
  readonly asksModel: boolean;
};

/** @throws Problem MODEL_FAILED when a model fails; the abort reason when `signal` was aborted. */
export type Job<Ask, Done, Options extends JobOptions = JobOptions> = (ask: Ask, options?: Options) => Promise<Done>;
export type JobOptions = {
  /** Stops `rewrite`, `answer` and `chooseTool`; a model does the other jobs to their end. */
  signal?: AbortSignal | undefined;
  /** Ids that are logged with a failure, such as the conversation's id. */
  about?: Readonly<Record<string, string>>;
  /**
   * Shared by the jobs for one message. After the model did not answer in time or could not be reached, the model is
   * not asked again for this message.
   */
  patience?: Patience;
};
/**
 * `lost`: the error of a model that timed out or could not be reached. Once it is set, `withFallback` does all later
 * jobs for the same message offline.
 */
export type Patience = { lost?: Error };
export type AtOnce = JobOptions & {
  /** Do the job offline at once, without calling a model. */
  atOnce?: true;
};
export type GeneratedBy = 'extractive' | 'model';

/**
 * Earlier messages, oldest first. `offers`: passages that the agent offered because no passage surely answered the
 * question.
 */
export type Turns = readonly {
  role: string;
  body: string;
  offers?: readonly Offer[];
  record?: { generated_by?: unknown };
}[];

/**
 * What a message is about. `help`: asks what the agent can do, or for help without a subject. `bot`: asks who or what
 * the agent is. `person`: asks for a human.
 */
export type Intent =
  'question' | 'greeting' | 'help' | 'thanks' | 'farewell' | 'small_talk' | 'bot' | 'insult' | 'person';
export type ReadAsk = { body: string; history: Turns };
export type ReadMessage = {
  intent: Intent;
  /** The language of the message or, when the message is too short to tell, of an earlier message of the customer. */
  language: Language;
  /** The message. Without embeddings, a message that names too little is joined with the customer's last question. */
  searched: string;
  /** The searches to try, in order. */
  askings: readonly [Asking, ...Asking[]];
  /** Earlier turns of the conversation to which the message may refer, the newest first; empty when there are none. */
  context: readonly string[];
  /** Whether the message was read without embeddings because the embedding model was unavailable. */
  degraded: boolean;
};
export type RewriteAsk = ReadAsk & { read: ReadMessage };

/** The retrieved passages to answer from, with their relevance. */
export type Grounds = {
  confidence: Confidence;
  hits: readonly Judged[];
  /** The passages to offer to the customer when the confidence is low, because they may help. */
  offers: readonly Judged[];
  /** The part of the message that the passages answer. */
  asking: string;
  /** Whether the passages were found without embeddings because the embedding model was unavailable. */
  degraded: boolean;
  /**
   * Reads the stored vectors of the passages' sentences, by passage id. Passages without stored vectors are left out.
   */
  sentences(ids: readonly string[]): Promise<ReadonlyMap<string, Int8Array>>;
};
export type AnswerAsk = {
  body: string;
  history: Turns;
  /** The customer's language. */
  language: Language;
  found: Grounds;
  /** The context of the customer's session. */
  situation?: Record<string, unknown> | undefined;
  /** Whether the answer may offer passages when no passage surely answers. */
  mayOffer: boolean;
};
export type AnswerOptions = AtOnce & {
  /** Gets the text while it is written. Without a listener, nothing is shown before the answer is complete. */
  listener?: Listener | undefined;
};
/** Gets an answer's text while it is written. `again`: all text so far is void, and the answer restarts. */
export type Listener = { piece(text: string): Promise<void>; again(): Promise<void> };
export type Written = {
  /** Plain text. Undefined when the passages do not answer the question. */
  text: string | undefined;
  /** Ids of the passages that the answer uses. */
  used: string[];
  /** Passages that are offered because none of them answers with enough certainty. */
  offers?: Offer[];
  /** Set when there were passages to offer, but `mayOffer` was false. */
  withheld?: true;
  /** Sentences were chosen without embeddings because the embedding model was unavailable. */
  degraded?: true;
  by: WrittenBy;
};
export type WrittenBy = {
  generated_by: GeneratedBy;
  model?: string;
  /** Why the configured model did not write the answer. */
  model_error?: string;
  /** Sentences of the model that were removed, because no passage supports them. */
  dropped?: string[];
};

/** A tool call that was made for a message and has ended. */
export type CallMade = {
  tool_name: string;
  risk_tier: RiskTier;
  arguments: Readonly<Record<string, unknown>>;
  outcome: Outcome;
  unknown: boolean;
  /** Whether the call waited for somebody's approval or answer. */
  asked: boolean;
  /** Whether the call waited for a member's approval and did not get it. */
  byMember: boolean;
  result?: ToolResult | undefined;
};
export type Toolbox = {
  offered: readonly ApprovedTool[];
  /** The customer's e-mail address, if the organization's backend or a signature vouches for it. */
  email: string | undefined;
  made: readonly CallMade[];
};
export type ToolAsk = {
  body: string;
  history: Turns;
  /**
   * The customer's earlier messages about the same request, if this message answers the agent's question; else empty.
   */
  request: readonly string[];
  toolbox: Toolbox;
  /** Relative dates, such as "tomorrow", are computed from this time. */
  now: Date;
};
export type WantedCall = { tool: ApprovedTool; arguments: Record<string, unknown> };
/**
 * `call`: a complete tool call. `missing`: a tool is meant, but the customer has not given these required arguments.
 * `told`: an answer from the results of tools. Undefined: no tool is meant.
 */
export type Choice =
  { call: WantedCall } | { missing: readonly string[] } | { told: { body: string; by: WrittenBy } } | undefined;

/** `when`: the words that state the interview's time. */
export type InterviewWords = { words: DraftWords & { when: string }; generated_by: GeneratedBy };
export type QuestionsAsk = {
  role_title: string;
  skills: readonly string[];
  criteria: readonly string[];
  count: number;
  /** The level in the words of the person who asks for the questions: `senior`, `3 years`, `graduate`. */
  experience_level?: string | undefined;
  /** The categories of the questions; by default the categories of `questionCategories`. */
  categories?: readonly string[] | undefined;
  /** The text of a job description, whose skills are added to `skills`. */
  job_description?: string | undefined;
  resume?: string | undefined;
  /** The language of the questions; English by default. */
  language?: InterviewLanguage | undefined;
};
export type WrittenQuestions = { questions: NewQuestion[]; generated_by: GeneratedBy };
/** `asked`: ids of the questions that were asked already. */
type Questions = { questions: readonly Question[]; asked: readonly string[] };
/** `text`: the interviewer's message. */
export type RecognizeAsk = Questions & { text: string };
export type SuggestAsk = Questions & {
  language: InterviewLanguage;
  /** The last messages of the transcript. */
  said: readonly Said[];
};
export type Suggestion = { kind: 'question' | 'follow_up'; body: string; question_id?: string };
export type ScoreAsk = { interviewed: Interviewed; role: string };
export type MeetingAsk = TasksAsk & { mode: SummaryMode };
export type MeetingSummary = SummaryText & { generated_by: GeneratedBy };
export type TasksAsk = {
  /** The segments of the transcript; at least one. */
  said: readonly Said[];
  /** The members whom tasks can be assigned to. */
  members: readonly Person[];
  /** Relative dates are computed from this time, in the time zone `zone`. */
  startedAt: Date;
  zone: string;
};
/** `possible`: possible tasks that a person must confirm; always empty when a model found the tasks. */
export type FoundTasks = { tasks: FoundTask[]; possible: PossibleTask[]; generated_by: GeneratedBy };
/** `today`: the current day as `YYYY-MM-DD`. */
export type ReviewAsk = { task: Reviewed; today: string };
export type TaskReview = Findings & { generated_by: GeneratedBy };
