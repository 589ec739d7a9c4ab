/**
 * Everything that needs intelligence, one method a job. Each implementation takes and gives the same: `model/` asks a language
 * model, `offline/` runs here, and `withFallback` (fallback.ts) asks the model and goes on without it where it fails. Types only.
 */
import type { Person } from './offline/meetings/people.ts';
import type { Findings, Reviewed } from './offline/review.ts';
import type { Suggestion } from '../models/rules/interviews/room.ts';
import type { DraftWords } from '../models/rules/interviews/draft.ts';
import type { Evaluation, Interviewed, QaSummary } from '../models/rules/interviews/evaluation.ts';
import type { FoundTask, PossibleTask } from '../models/rules/interviews/found.ts';
import type { NewQuestion, Question, QuestionOrder } from '../models/rules/interviews/questions.ts';
import type { SummaryMode, SummaryText } from '../models/rules/interviews/summary.ts';
import type { Said } from '../models/rules/interviews/transcript.ts';
import type { Offer } from '../models/rules/knowledge/offers.ts';
import type { Confidence, Judged } from '../models/rules/knowledge/retrieval.ts';
import type { Asking } from '../models/rules/language/asking.ts';
import type { InterviewLanguage, Language } from '../models/rules/language/language.ts';
import type { ToolResult } from '../models/rules/mcp/result.ts';
import type { ApprovedTool, Outcome, RiskTier } from '../models/rules/mcp/tool.ts';

export type Intelligence = {
  /** What a message wants, in which language, and what to search for. */
  read: Job<ReadAsk, ReadMessage>;
  /** A message that refers to what was said before as a question that can be understood alone. */
  rewrite: Job<RewriteAsk, string>;
  /** An answer from passages that were found. */
  answer: Job<AnswerAsk, Written, AnswerOptions>;
  /** The tool that a message wants called; or, once tools have answered, what is told of their results. */
  chooseTool: Job<ToolAsk, Choice>;
  /** What a text says of the interview that somebody wants. */
  draftInterview: Job<{ prompt: string }, InterviewWords>;
  /** The questions of an interview. */
  writeQuestions: Job<QuestionsAsk, WrittenQuestions>;
  /** What an interviewer might ask now. */
  suggest: Job<SuggestAsk, Suggestion[]>;
  summarizeInterview: Job<Interviewed, Omit<QaSummary, 'generated_at'>>;
  /** Undefined: the candidate said nothing that could be judged. */
  score: Job<ScoreAsk, Omit<Evaluation, 'generated_at'> | undefined>;
  /** The phrase of a transcript that names the meeting; undefined when nothing is said that names anything. */
  titleMeeting: Job<{ said: readonly Said[] }, string | undefined>;
  summarizeMeeting: Job<MeetingAsk, MeetingSummary>;
  /** The tasks that people take on in a meeting. */
  findTasks: Job<TasksAsk, FoundTasks>;
  /** What is missing and vague in a task. */
  reviewTask: Job<ReviewAsk, TaskReview>;
  /** Whether what was made in this way may come out better when it is made again. */
  mayImprove(made: GeneratedBy): boolean;
};

/** @throws Problem MODEL_FAILED of a model that fails; or what `signal` was aborted with. */
export type Job<Ask, Done, Options extends JobOptions = JobOptions> = (ask: Ask, options?: Options) => Promise<Done>;
export type JobOptions = {
  signal?: AbortSignal | undefined;
  /** Ids of what it is for, for the log. */
  about?: Readonly<Record<string, string>>;
};
export type GeneratedBy = 'extractive' | 'model';

/** What was said, oldest first; an answer may have made offers. */
export type Turns = readonly { role: string; body: string; offers?: readonly Offer[] }[];

/** What a message wants. `help`: what the agent can do, or help with nothing named yet. `bot`: who or what the agent is. */
export type Intent =
  'question' | 'greeting' | 'help' | 'thanks' | 'farewell' | 'small_talk' | 'bot' | 'insult' | 'person';
export type ReadAsk = { body: string; history: Turns };
export type ReadMessage = {
  intent: Intent;
  /** That of the message or, when it says too little, of the customer's last one that says enough. */
  language: Language;
  /** The message as it is understood by itself, together with what it refers to. */
  searched: string;
  /** What of it is searched for, in the order in which to try it. */
  askings: readonly [Asking, ...Asking[]];
};
/** `read`: what was read in the message. */
export type RewriteAsk = ReadAsk & { read: ReadMessage };

/** Passages to answer from, as they were judged. */
export type Grounds = {
  confidence: Confidence;
  hits: readonly Judged[];
  /** With low confidence what may help. */
  offers: readonly Judged[];
  /** What of the message they answer. */
  asking: string;
  /** They should have been compared by meaning too, and could not. */
  degraded: boolean;
};
export type AnswerAsk = {
  body: string;
  history: Turns;
  /** The customer's. */
  language: Language;
  found: Grounds;
  /** What is known of the customer's situation. */
  situation?: Record<string, unknown> | undefined;
  /** Whether passages that may help may be offered. */
  mayOffer: boolean;
};
export type AnswerOptions = JobOptions & {
  /** Without one, nothing is shown before the answer is whole. */
  listener?: Listener | undefined;
  /** Answers in the passages' own sentences, without a wait. */
  atOnce?: true;
};
/** Where the text goes while it is written. What was given before `again` is void. */
export type Listener = { piece(text: string): Promise<void>; again(): Promise<void> };
export type Written = {
  /** Plain text. Undefined: the passages do not answer. */
  text: string | undefined;
  /** Ids of the passages that it rests on. */
  used: string[];
  /** What is offered because nothing surely answers. */
  offers?: Offer[];
  /** There was something to offer, which might not be. */
  withheld?: true;
  by: WrittenBy;
};
export type WrittenBy = {
  generated_by: GeneratedBy;
  model?: string;
  /** Why the configured model did not write it. */
  model_error?: string;
  /** Sentences of the model that were left out, because the passages do not bear them out. */
  dropped?: string[];
};

/** A call that was made for a message, and has ended. */
export type CallMade = {
  tool_name: string;
  risk_tier: RiskTier;
  arguments: Readonly<Record<string, unknown>>;
  outcome: Outcome;
  unknown: boolean;
  /** Whether a member was asked. */
  byMember: boolean;
  result?: ToolResult | undefined;
};
export type Toolbox = {
  offered: readonly ApprovedTool[];
  /** The customer's own, if a backend vouches for it. */
  email: string | undefined;
  made: readonly CallMade[];
};
export type ToolAsk = {
  body: string;
  history: Turns;
  /** What the customer wants done, where this message answers the agent's question back. */
  request: readonly string[];
  toolbox: Toolbox;
  /** What relative dates count from. */
  now: Date;
};
export type WantedCall = { tool: ApprovedTool; arguments: Record<string, unknown> };
/**
 * `missing`: the call is meant, and these required arguments were not said. `told`: what tools have answered is enough. Undefined:
 * no tool is meant.
 */
export type Choice =
  { call: WantedCall } | { missing: readonly string[] } | { told: { body: string; by: WrittenBy } } | undefined;

/** `when`: the words that name the time. */
export type InterviewWords = { words: DraftWords & { when: string }; generated_by: GeneratedBy };
export type QuestionsAsk = QuestionOrder & { job_description?: string | undefined };
export type WrittenQuestions = { questions: NewQuestion[]; generated_by: GeneratedBy };
export type SuggestAsk = {
  questions: readonly Question[];
  /** Ids of those that were asked. */
  asked: readonly string[];
  language?: InterviewLanguage | undefined;
  /** What was said last. */
  said: readonly Said[];
};
export type ScoreAsk = { interviewed: Interviewed; role: string };
export type MeetingAsk = TasksAsk & { mode: SummaryMode };
export type MeetingSummary = SummaryText & { generated_by: GeneratedBy };
export type TasksAsk = {
  /** At least one segment. */
  said: readonly Said[];
  /** Who may be assigned. */
  members: readonly Person[];
  /** What relative dates count from, in this zone. */
  startedAt: Date;
  zone: string;
};
/** `possible`: what may be a task, and is left to a person; empty where a model found the tasks. */
export type FoundTasks = { tasks: FoundTask[]; possible: PossibleTask[]; generated_by: GeneratedBy };
/** `today`: a day, as due dates are written. */
export type ReviewAsk = { task: Reviewed; today: string };
export type TaskReview = Findings & { generated_by: GeneratedBy };
