/**
 * English patterns by which people promise to do something, ask another person to do it, or say that it has to be done.
 * Pure.
 */
import { escaped, inAnyCase } from '../../../models/rules/language/pattern.ts';

/** `you`: the addressed person; `somebody`: any volunteer; `everybody`: no single person. */
export type Doer = 'speaker' | 'you' | 'somebody' | 'everybody' | { named: string };
/**
 * The less obvious forms. `wish`: the speaker wants to be given something. `offer`: the speaker asks whether to do
 * something.
 */
export const forms = ['label', 'promise', 'offer', 'assignment', 'request', 'wish', 'need', 'proposal'] as const;
export type Form = (typeof forms)[number];

export type Pattern = {
  /** Group 2 is the task; group 1 is a name, if the pattern has one. */
  at: RegExp;
  form: Form;
  doer: (match: RegExpExecArray) => Doer;
  /** A match counts as a task only with a date or when a person accepts it. */
  weak?: true;
  /** A match counts as a task only with a verb from the list of work verbs. */
  strict?: true;
  /** The task is the whole clause, in the passive voice. */
  passive?: true;
  /** The verb is in the third person: `Paul writes the letter`. */
  present?: true;
  /** The pattern is a question. */
  asks?: true;
  /** The match names only the object of the task; `named` is the verb to put before the object. */
  named?: string;
};

export const label =
  /^(?:action items?|actions?|to-?dos?|next steps?|tasks?|follow-?ups?|(?:high|top|low|highest) priority|urgent|important)(?:\s+(?:for|is for|is|are))?\s*([\p{Lu}][^:–]{0,60}?)?\s*(?:[:–]|\bis to\b)\s*(.+)$/iu;
const address = String.raw`[^\s<>()[\],;:"']+@[^\s<>()[\],;:"']+\.\p{L}{2,}`;
/** A person who is named by their role: `the industrial designer`. */
const roles =
  'designer|expert|manager|engineer|lead|executive|specialist|developer|analyst|director|officer|consultant|architect';
const role = String.raw`(?:(?:[Tt]he|[Oo]ur|[Yy]our|[Mm]y) )?(?:\p{L}[\p{L}-]+ ){0,2}(?:${inAnyCase(roles)})`;
const polite = String.raw`(?:\s+(?:please|kindly|maybe|perhaps|also|just|then|quickly))*`;
const ownNeed = String.raw`(?:still |also |really |just )*(?:need to|have to|must|gotta|'ve got to|have got to|'ve to|shall|'ll|will|am going to|'m going to|'m gonna|am gonna|promise to|promise I will)`;
const theirNeed = String.raw`(?:'ll|will|shall|(?:is |are |'s |'re )?(?:going to|gonna)|needs? to|ha(?:s|ve) to|must|should|agreed to|promised to|offered to|volunteered to|is responsible for|is in charge of|is supposed to|takes care of|owns|will need to|is to)`;
const thing = String.raw`(?:(?:the|our|my) )?(?:\p{L}+ )?(?:fix|solution|plan|next step|first thing|first step|next thing|action)`;

/**
 * One pattern a line: its form, its doer and its marks, then ` | ` and its source. `called`: the person whom `{who}`
 * names. The marks are the optional fields of `Pattern`.
 */
const rows = String.raw`
assignment called | \b(?:I want|I need|I'd like|I would like|we want|we need|I asked|I'll ask|let's have|let's ask)\s+{who}(?:,? (?:I'd like |I want |I need )?you)? to\s+(.+)$
assignment called | (?:^|[\s,;]){who}(?:,? please)?(?:,? you)?\s*(?:\b|(?='))${theirNeed}\s+(.+)$
assignment called strict | ^{who}(?: and \S+)? to\s+(.+)$
assignment called strict | ^{who},? you\s+(.+)$
request called | ^{who},? if you (?:can|could|would)\s+(.+)$
assignment called weak | (?:^|[\s,;]){who} can\s+(.+)$
assignment called weak strict | (?:^|[\s,;]){who}(?: is|'s) (?=\p{L}+ing\b)(?!going\b|being\b)(.+)$
assignment called weak | ^{who},? you (?:wanted|promised|meant|planned|were going|were supposed) to\s+(.+)$
assignment called weak strict present | ^{who} (?=\p{Ll}+s\b)(.+)$
assignment called | \b[Ll]et {who}\s+(.+)$
request you | \b(?:it would be (?:great|nice|good|helpful|lovely|perfect)|I(?:'d| would) (?:appreciate|love) it) if you (?:could |would |can )?()(.+)$
request you | ^(?:.*,\s*)?(?:please )?(?:don't forget|do not forget|remember) to\s+()(.+)$
promise speaker | ^(?:.*,\s*)?(?:please )?remind me to\s+()(.+)$
assignment you | \byour (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$
promise speaker | \bmy (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$
promise speaker strict | \bI\s*(?:'m|am|'d be|'ll be|will be) (?:happy|glad|ready|willing) to\s+()(.+)$
offer speaker weak asks | \b(?:do you want me to|would you like me to|shall I|should I)\s+()(.+)$
need somebody asks | \bwho (?:can|could|will|would|wants to|would like to|is going to|'s going to)\s+()(.+)$
need somebody asks | \b(?:can|could|would|will) (?:somebody|someone|anybody|anyone|one of us)${polite}\s+()(.+)$
need somebody | \b(?:we|I) need (?:somebody|someone|a volunteer) (?:to|who can|who could)\s+()(.+)$
need somebody asks | \b(?:any )?volunteers? to\s+()(.+)$
need somebody asks named=take_care_of | \b(?:any )?volunteers? for\s+()(.+)$
request you asks named=provide | \bwhen (?:can|could|will) (?:we|I) (?:have|get|see)\s+()(.+)$
request you named=take_care_of | \b(?:don't|do not) forget\s+(?!to\b|that\b|about\b)()(.+)$
promise speaker named=send | \bI (?:still )?owe (?:you|them|him|her|\p{Lu}\p{L}+)\s+()((?:the|a|an|some|my|those|these|our)\s.+)$
promise speaker weak | \bI(?:'d| would) be up for\s+()(.+)$
request you asks | \b(?:would|do) you mind\s+()(.+)$
request you asks | \b(?:can|could|would|will) (?:you|one of you)${polite}\s+()(.+)$
request you | \b(?:I'd like|I would like|I want|I need) you (?:both |all |guys |two )?to\s+()(.+)$
wish you named=provide | \bI(?:'ll| will)?(?: just| also| still)? need (?!to\b|you\b)()((?:the|a|an|some|your|all|those|these)\s.+) from you\b
wish you named=provide | \bI(?:'d| would) (?:like|want) to (?:see|receive|get|have)\s+()(.+)$
promise speaker weak named=send | ^you(?:'ll| will)? (?:have|get)\s+()((?:it|them|that|this|the|a|an|my|those|these)\b.*)$
assignment you | \byou(?: guys| two| both| all)?(?:'ll| will)?\s+(?:all |both )?(?:need to|have to|must|should|'ve got to)\s+()(.+)$
assignment you weak strict | \byou(?: guys| two| both| all)?(?:'ll| will|'re gonna| are gonna|'re going to| are going to| gonna)\s+()(.+)$
request you strict | ^if you (?:can|could)\s+()(.+)$
promise speaker | \bI\s*${ownNeed}\s+()(.+)$
promise speaker weak | \bI\s*(?:can|could|should|plan to|intend to|aim to|want to|'d like to|would like to|am planning to|'m planning to|'m about to|'d better|am|'m)\s+()(.+)$
promise speaker weak strict | \bI(?: would|'d)\s+()(.+)$
promise speaker weak | \b(?:let me)\s+()(.+)$
need somebody | \b(?:someone|somebody|one of us|anyone)\s+(?:(?:needs|has|ought) to|should|must|please|will)\s+()(.+)$
need everybody strict | \b(?:everyone|everybody|all of (?:us|you)|the (?:whole )?team|each of (?:us|you))\s+(?:(?:needs|has|have|need) to|should|must|please|will)\s+()(.+)$
need somebody strict | ^${thing} is to\s+()(.+)$
need somebody strict | \bwe\s*(?:(?:still |also |really )*(?:need to|have to|must|'ve got to|gotta)|'ll|will|are going to|'re going to|agreed to)\s+()(.+)$
proposal somebody strict | \blet's\s+()(.+)$
proposal somebody strict asks | \b(?:should|shall|could|can) we\s+()(.+)$
proposal somebody strict | \bwe\s*(?:should|can|could)\s+(?:also )?()(.+)$
request you strict | (?:^|,\s*)please\s+()(.+)$
request you strict | ^()([a-z][\w-]*\s.+),?\s+please[.!]?$
need somebody passive | ^()((?:.+\s)(?:needs?|requires?)\s+(?!to\b)(?:\w+ly\s+)?(\w+ing)(?:\s.*)?)$
need somebody passive | ^()((?:.+\s)?(?:needs?|has|have) to be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$
need somebody passive | ^()((?:.+\s)?must be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$
need somebody weak passive | ^()((?:.+\s)?should be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$
request called strict | ^{who},\s+((?:please |and |also |then )?[a-z].+)$
assignment called weak strict | ^(?!(?:The|This|That|These|Those|It|He|She|They|There|What|Who|Which|Where|When|Why|How|If|I|We|You|Nobody|No|Nothing|Everything|Something|People|Someone|Everyone|One|Our|My|Your|His|Her|Their|And|But|So)\b)(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?)(?: (?:from|at|in|of) [\p{L} ]{2,30}?)? (?:will|is going to|needs to|has to)\s+(.+)$
request you strict | ^()(make sure\s.+)$
request you weak strict | ^()((?:ask|book|call|check|email|forward|invite|mail|order|prepare|print|remind|schedule|send|update|write)\s.+)$
`
  .trim()
  .split('\n');

function patternOf(row: string, who: string): Pattern {
  const bar = row.indexOf(' | ');
  const [form, doer, ...marks] = row.slice(0, bar).split(' ') as [Form, Exclude<Doer, object> | 'called', ...string[]];
  const source = row.slice(bar + 3).replace('{who}', () => who);
  return {
    form,
    // Names are matched case-sensitively: the verb `will` is not Will.
    at: new RegExp(source, doer === 'called' ? 'u' : 'iu'),
    doer: doer === 'called' ? (match) => ({ named: match[1]! }) : () => doer,
    ...(Object.fromEntries(
      marks.map((mark) => [mark.replace(/=.*/u, ''), mark.split('=')[1]?.replaceAll('_', ' ') ?? true]),
    ) as Omit<Pattern, 'form' | 'at' | 'doer'>),
  };
}

/** All patterns, in the order to try them. `names`: all ways in which people may be called, the longest first. */
export function patternsFor(names: readonly string[]) {
  const who = `(${[...names.map(escaped), address, role].join('|')})`;
  const named = (source: string): RegExp => new RegExp(source, 'u');
  const patterns: Pattern[] = [
    { form: 'label', at: label, doer: (match) => (match[1] ? { named: match[1] } : 'somebody') },
    ...rows.map((row) => patternOf(row, who)),
  ];
  const vocative = {
    /**
     * Patterns that find a named person: after a label (`owner`), or addressed at the start (`first`) or the end
     * (`last`).
     */
    owner: named(String.raw`^${who}(?:\s*[:,–-]| to| will| should| needs to|'ll)?\s+(.+)$`),
    first: named(String.raw`^(?:@?${who})(?:,| -| –|:)\s+`),
    last: named(String.raw`,\s*@?${who}(?=,|[.?!]*$)[.?!]*`),
  };
  return { patterns, vocative };
}
