/**
 * The texts of candidates' resumes, one per interview. The file is read once and never stored. The interview stores
 * whether the file could be read.
 */
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, string } from '../rules/base/fields.ts';

export const ResumeModel = defineModel('Resume', 'resumes', {
  /** The interview's id. */
  _id: string,
  org_id: string,
  filename: string,
  text: string,
  created_at: date,
});
export type Resume = RecordOf<typeof ResumeModel>;

export const findResume = (interviewId: string): Promise<Resume | null> =>
  collectionOf(ResumeModel).findOne({ _id: interviewId });

/** Stores the text in place of an earlier one. */
export async function storeResume({ _id, ...fields }: Resume): Promise<void> {
  await collectionOf(ResumeModel).replaceOne({ _id }, fields, { upsert: true });
}

export async function removeResume(interviewId: string): Promise<void> {
  await collectionOf(ResumeModel).deleteOne({ _id: interviewId });
}
