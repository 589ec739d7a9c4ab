/** Questions of an interview, written by a person or a program. Pure: types only. */

/**
 * `category`: introduction, technical, behavioral, situational, motivation, or another category that a member asked
 * for.
 */
export type NewQuestion = { category: string; body: string };
export type Question = NewQuestion & { question_id: string };
