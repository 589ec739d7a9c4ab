/**
 * Takes a resume: reads it in a child process (clients/files), stores its text, and personalizes the questions while
 * the interview has not started. The file itself is never stored. If a resume cannot be read, the reason is noted on
 * the interview, and the request succeeds.
 */
import type { Context } from '../context.ts';
import type { UploadedFile } from '../http/upload.ts';
import { sniff } from '../../clients/files/files.ts';
import type { QuestionsAsk } from '../../intelligence/intelligence.ts';
import { noteResume, personalize, type Interview } from '../../models/interviews/interview.ts';
import { findResume, removeResume, storeResume } from '../../models/interviews/resume.ts';
import { newId } from '../../models/base/ids.ts';
import { cleanFilename } from '../../models/rules/knowledge/document.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { next } from '../../models/rules/interviews/interview.ts';
import type { Question } from '../../models/rules/interviews/questions.ts';
import { detectResume, resumeText } from '../../models/rules/interviews/resume.ts';

/** @throws Problem VALIDATION, UNSUPPORTED_FILE_TYPE, TOO_LARGE */
export async function takeResume(ctx: Context, interview: Interview, file: UploadedFile): Promise<void> {
  const filename = cleanFilename(file.filename);
  const type = await sniff(file.path, filename, detectResume);
  const read = await readText(ctx, file.path, type);
  if ('error' in read) {
    await noteResume(interview, read, ctx.clock());
    return;
  }
  const questions = await personalQuestions(ctx, interview, read.text);
  await storeResume({
    _id: interview._id,
    org_id: interview.org_id,
    filename,
    text: read.text,
    created_at: ctx.clock(),
  });
  if (questions.length > 0) await personalize(interview, questions, ctx.clock());
  // The interview may have been removed meanwhile; then its resume is removed too.
  if (!(await noteResume(interview, { read: true }, ctx.clock()))) await removeResume(interview._id);
}

async function readText(
  { files, log }: Context,
  path: string,
  type: 'pdf' | 'docx',
): Promise<{ text: string } | { error: string }> {
  try {
    const text = resumeText(await files.extract(path, type));
    return text.trim() === '' ? { error: new Unreadable('empty').message } : { text };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    log.info({ reason: error.reason, err: error.cause }, 'a resume could not be read');
    return { error: error.message };
  }
}

/** New questions that refer to the resume. Empty when the interview has started, or a member wrote its questions. */
async function personalQuestions(ctx: Context, interview: Interview, resume: string): Promise<Question[]> {
  if (next(interview.status, 'update') === undefined) return [];
  if (interview.questions_by === 'member') return [];
  return questionsWith(ctx, interview._id, ordered(interview), resume);
}

type Ordered = Pick<Interview, 'role_title' | 'skills' | 'evaluation_criteria' | 'question_count' | 'language'>;
const ordered = ({ role_title, skills, evaluation_criteria, question_count, language }: Ordered): QuestionsAsk => ({
  role_title,
  skills,
  criteria: evaluation_criteria,
  count: question_count,
  language,
});

async function questionsWith(ctx: Context, interviewId: string, order: QuestionsAsk, resume: string) {
  const { questions } = await ctx.intelligence.writeQuestions(
    { ...order, resume, experience_level: order.role_title },
    { about: { interview_id: interviewId } },
  );
  return questions.map((question): Question => ({ question_id: newId('question'), ...question }));
}

/** New questions for a changed configuration, which refer to the resume. Undefined when the interview has no resume. */
export async function questionsAnew(
  ctx: Context,
  interviewId: string,
  config: Ordered,
): Promise<Question[] | undefined> {
  const resume = await findResume(interviewId);
  return resume ? questionsWith(ctx, interviewId, ordered(config), resume.text) : undefined;
}
