/** Questions of an interview, whoever writes them. Pure: types only. */

/** `category`: introduction, technical, behavioral, situational, motivation, or another one that was asked for. */
export type NewQuestion = { category: string; body: string };
export type Question = NewQuestion & { question_id: string };
