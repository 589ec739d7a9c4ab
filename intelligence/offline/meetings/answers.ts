/** Reads a reply to a request, in English: whether it accepts, agrees, refuses or passes the task on. Pure. */
import { defined } from '../../../models/rules/base/defined.ts';

export type Answer = {
  /** The speaker takes the task: `will do`, `leave it with me`. */
  takes: boolean;
  agrees: boolean;
  /** The speaker welcomes an offer: `great, do that`. */
  approves: boolean;
  refuses: boolean;
  /** The person whom the task is passed on to: `Maybe Leo?` */
  handsTo?: string;
};

const agreement =
  /^(?:(?:oh|ah|well|hm+|right|and)[,.]?\s+)*(?:right\b|correct\b|exactly\b|yes|yeah|yep|yup|sure|ok|okay|of course|absolutely|certainly|definitely|alright|all right|great|no problem|no worries|perfect|fine|gladly|happy to|got it|understood|consider it done|you got it|my pleasure|with pleasure|that would be|that'd be|please do|works for me|can do|agreed|sounds good|good idea|I'd love)\b/iu;
const taking =
  /^(?:(?:oh|okay|ok|sure|well|yes|yeah),? )*(?:me|I can|I will|I could|I do|mine|that's me)(?:[.!,]|$)|\b(?:will do|I'm on it|^on it\b|consider it done|leave (?:it|that|them) (?:to|with) me|I(?:'ll| can| will| could| would)(?: gladly| happily)? (?:do|take|handle|sort|manage|cover|own)(?: care of)? (?:it|that|this|them|those|these|care of it|the \p{L}+ ones?)|(?:put|have) (?:it|that|them) on my list|on my list\b|count on me|I would volunteer|I('ll| will) volunteer|it's mine|that's mine|happy to\b|I'll see to it|I'll get (?:it|that) done)/iu;
const refusal =
  /^(?:(?:oh|ah|well|hm+|but|sorry|no)[,.]?\s+)*(?:no\b(?! (?:problem|worries|rush|hurry))|nope|sorry\b|not (?:this|now|before|until|really|today|me|yet|possible|in)\b|I can't|I cannot|I couldn't|I won't|I don't think so|I'm afraid|unfortunately|not me|I'd rather not|let's not|we can't|there's no\b|I don't have|I have no time|I'd love to, but)/iu;
const approving =
  /^(?:(?:oh|ah|well|okay|ok|yes|yeah|sure)[,.!]?\s+)*(?:great|perfect|lovely|wonderful|brilliant|excellent|super|please|do that|go ahead|go for it|that would be|that'd be|good idea|thanks|thank you|I'd appreciate)\b/iu;
const declining =
  /\b(?:I (?:really |honestly |just |probably )*(?:can't|cannot|couldn't|won't)(?! wait)\b|I'm (?:swamped|too busy|away|off|out|on holiday|fully booked)|no capacity|too much on|I'm afraid|no budget|too expensive|don't want to|wouldn't have the time|(?:don't|won't|do not) have (?:the )?time|not something we|can't do (?:it|that)|I'd rather not|rather not|leave it for now|let's leave it|the answer is (?:still )?no|drop (?:it|that)|not worth|so no\b|let's not)\b/iu;

export type AnswerOf = (text: string) => Answer;

/** `names`: all ways in which the participants may be called, as written. */
export function answerReader(names: readonly string[]): AnswerOf {
  const who = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|');
  const handing =
    who === ''
      ? undefined
      : new RegExp(
          String.raw`(?:^|[\s,.])(?:[Mm]aybe|[Pp]erhaps|[Ww]hat about|[Hh]ow about|[Cc]an|[Cc]ould|[Ll]et|[Aa]sk|[Gg]ive (?:it|that|them) to|[Rr]ather|[Bb]etter)\s+(${who})\b(?!['’]s)|\b(${who}) (?:can|could|should|will|has to) (?:do|take|handle)(?: over)? (?:it|that|this|them)\b|^(${who})\?$|(?:it|that)['’]s yours, (${who})\b`,
          'u',
        );
  return (text) => {
    const line = text.replaceAll('’', "'");
    const found = handing?.exec(line);
    const handsTo = found?.slice(1).find((name) => name !== undefined);
    const refuses = refusal.test(line) || declining.test(line);
    return {
      takes: taking.test(line) && !refuses,
      approves: approving.test(line) && !declining.test(line),
      agrees: agreement.test(line) && !declining.test(line),
      refuses,
      ...defined({ handsTo }),
    };
  };
}
