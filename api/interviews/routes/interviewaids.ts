/** Routes that prepare an interview: a draft from a description, and questions for a role. They store nothing. */
import { member } from '../../access/auth.ts';
import * as contract from '../contract/interviewaids.ts';
import { route } from '../../http/route.ts';
import { signQuestions } from '../interview.ts';
import { draftInterview } from '../../../agent/interviews/draft.ts';
import { interviewBounds } from '../../../models/rules/interviews/interview.ts';
import { interviewLanguageOf } from '../../../models/rules/language/language.ts';

/** The largest body, in bytes: room for a resume of 200,000 characters and a description. */
const maxBytes = 2 * 1024 * 1024;

export const interviewAidRoutes = [
  route(contract.draftInterview, {
    summary: 'Draft an interview from what you want, in your own words. Nothing is stored.',
    auth: member(),
    limit: 'queries',
    asksOnly: true,
    async handle({ params: { orgId }, body: { prompt, timezone = 'UTC' } }, ctx) {
      const asked = { prompt, zone: timezone, now: ctx.clock() };
      const { draft, ...rest } = await draftInterview(ctx.intelligence, asked, { about: { org_id: orgId } });
      const signed = { ...draft, questions_signature: signQuestions(ctx, orgId, draft.questions) };
      return { draft: signed, ...rest };
    },
  }),
  route(contract.generateQuestions, {
    summary: 'Questions for a role, its skills and level, and for a resume where there is one. Nothing is stored.',
    auth: member(),
    maxBytes,
    limit: 'queries',
    asksOnly: true,
    async handle({ params: { orgId }, body }, ctx) {
      const {
        title,
        job_description,
        required_skills,
        experience_level,
        resume_text,
        question_count,
        categories,
        language,
      } = body;
      const made = await ctx.intelligence.writeQuestions(
        {
          role_title: title,
          skills: required_skills.map((skill) => skill.trim()),
          criteria: [],
          count: question_count ?? interviewBounds.questions.default,
          experience_level,
          categories,
          resume: resume_text,
          language: language ?? interviewLanguageOf(job_description),
          job_description,
        },
        { about: { org_id: orgId } },
      );
      return { ...made, questions_signature: signQuestions(ctx, orgId, made.questions) };
    },
  }),
];
