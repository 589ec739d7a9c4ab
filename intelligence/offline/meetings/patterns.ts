/**
 * English patterns by which people promise to do something, ask another person to do it, or say that it has to be done.
 * Pure.
 */

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
const role = String.raw`(?:(?:[Tt]he|[Oo]ur|[Yy]our|[Mm]y) )?(?:\p{L}[\p{L}-]+ ){0,2}(?i:designer|expert|manager|engineer|lead|executive|specialist|developer|analyst|director|officer|consultant|architect)`;
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
const polite = String.raw`(?:\s+(?:please|kindly|maybe|perhaps|also|just|then|quickly))*`;
const ownNeed = String.raw`(?:still |also |really |just )*(?:need to|have to|must|gotta|'ve got to|have got to|'ve to|shall|'ll|will|am going to|'m going to|'m gonna|am gonna|promise to|promise I will)`;
const theirNeed = String.raw`(?:'ll|will|shall|(?:is |are |'s |'re )?(?:going to|gonna)|needs? to|ha(?:s|ve) to|must|should|agreed to|promised to|offered to|volunteered to|is responsible for|is in charge of|is supposed to|takes care of|owns|will need to|is to)`;
const thing = String.raw`(?:(?:the|our|my) )?(?:\p{L}+ )?(?:fix|solution|plan|next step|first thing|first step|next thing|action)`;

/** All patterns, in the order to try them. `names`: all ways in which people may be called, the longest first. */
export function patternsFor(names: readonly string[]) {
  const who = `(${[...names.map(escaped), address, role].join('|')})`;
  const is = (source: string, flags = 'iu'): RegExp => new RegExp(source, flags);
  // Names are matched case-sensitively: the verb `will` is not Will.
  const named = (source: string): RegExp => new RegExp(source, 'u');
  const called = (match: RegExpExecArray): Doer => ({ named: match[1]! });
  const speaker = (): Doer => 'speaker';
  const you = (): Doer => 'you';
  const somebody = (): Doer => 'somebody';
  const everybody = (): Doer => 'everybody';
  const patterns: Pattern[] = [
    { form: 'label', at: label, doer: (match) => (match[1] ? { named: match[1] } : 'somebody') },
    {
      form: 'assignment',
      at: named(
        String.raw`\b(?:I want|I need|I'd like|I would like|we want|we need|I asked|I'll ask|let's have|let's ask)\s+${who}(?:,? (?:I'd like |I want |I need )?you)? to\s+(.+)$`,
      ),
      doer: called,
    },
    {
      form: 'assignment',
      at: named(String.raw`(?:^|[\s,;])${who}(?:,? please)?(?:,? you)?\s*(?:\b|(?='))${theirNeed}\s+(.+)$`),
      doer: called,
    },
    { form: 'assignment', at: named(String.raw`^${who}(?: and \S+)? to\s+(.+)$`), doer: called, strict: true },
    { form: 'assignment', at: named(String.raw`^${who},? you\s+(.+)$`), doer: called, strict: true },
    { form: 'request', at: named(String.raw`^${who},? if you (?:can|could|would)\s+(.+)$`), doer: called },
    { form: 'assignment', at: named(String.raw`(?:^|[\s,;])${who} can\s+(.+)$`), doer: called, weak: true },
    {
      form: 'assignment',
      at: named(String.raw`(?:^|[\s,;])${who}(?: is|'s) (?=\p{L}+ing\b)(?!going\b|being\b)(.+)$`),
      doer: called,
      weak: true,
      strict: true,
    },
    {
      form: 'assignment',
      at: named(String.raw`^${who},? you (?:wanted|promised|meant|planned|were going|were supposed) to\s+(.+)$`),
      doer: called,
      weak: true,
    },
    {
      form: 'assignment',
      at: named(String.raw`^${who} (?=\p{Ll}+s\b)(.+)$`),
      doer: called,
      weak: true,
      strict: true,
      present: true,
    },
    { form: 'assignment', at: named(String.raw`\b[Ll]et ${who}\s+(.+)$`), doer: called },
    {
      form: 'request',
      at: is(
        String.raw`\b(?:it would be (?:great|nice|good|helpful|lovely|perfect)|I(?:'d| would) (?:appreciate|love) it) if you (?:could |would |can )?()(.+)$`,
      ),
      doer: you,
    },
    {
      form: 'request',
      at: is(String.raw`^(?:.*,\s*)?(?:please )?(?:don't forget|do not forget|remember) to\s+()(.+)$`),
      doer: you,
    },
    { form: 'promise', at: is(String.raw`^(?:.*,\s*)?(?:please )?remind me to\s+()(.+)$`), doer: speaker },
    {
      form: 'assignment',
      at: is(
        String.raw`\byour (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$`,
      ),
      doer: you,
    },
    {
      form: 'promise',
      at: is(
        String.raw`\bmy (?:next step|action|action item|task|job|part|homework) (?:is|will be|would be) to\s+()(.+)$`,
      ),
      doer: speaker,
    },
    {
      form: 'promise',
      at: is(String.raw`\bI\s*(?:'m|am|'d be|'ll be|will be) (?:happy|glad|ready|willing) to\s+()(.+)$`),
      doer: speaker,
      strict: true,
    },
    {
      form: 'offer',
      at: is(String.raw`\b(?:do you want me to|would you like me to|shall I|should I)\s+()(.+)$`),
      doer: speaker,
      asks: true,
      weak: true,
    },
    {
      form: 'need',
      at: is(String.raw`\bwho (?:can|could|will|would|wants to|would like to|is going to|'s going to)\s+()(.+)$`),
      doer: somebody,
      asks: true,
    },
    {
      form: 'need',
      at: is(String.raw`\b(?:can|could|would|will) (?:somebody|someone|anybody|anyone|one of us)${polite}\s+()(.+)$`),
      doer: somebody,
      asks: true,
    },
    {
      form: 'need',
      at: is(String.raw`\b(?:we|I) need (?:somebody|someone|a volunteer) (?:to|who can|who could)\s+()(.+)$`),
      doer: somebody,
    },
    { form: 'need', at: is(String.raw`\b(?:any )?volunteers? to\s+()(.+)$`), doer: somebody, asks: true },
    {
      form: 'need',
      at: is(String.raw`\b(?:any )?volunteers? for\s+()(.+)$`),
      doer: somebody,
      asks: true,
      named: 'take care of',
    },
    {
      form: 'request',
      at: is(String.raw`\bwhen (?:can|could|will) (?:we|I) (?:have|get|see)\s+()(.+)$`),
      doer: you,
      asks: true,
      named: 'provide',
    },
    {
      form: 'request',
      at: is(String.raw`\b(?:don't|do not) forget\s+(?!to\b|that\b|about\b)()(.+)$`),
      doer: you,
      named: 'take care of',
    },
    {
      form: 'promise',
      at: is(
        String.raw`\bI (?:still )?owe (?:you|them|him|her|\p{Lu}\p{L}+)\s+()((?:the|a|an|some|my|those|these|our)\s.+)$`,
      ),
      doer: speaker,
      named: 'send',
    },
    { form: 'promise', at: is(String.raw`\bI(?:'d| would) be up for\s+()(.+)$`), doer: speaker, weak: true },
    { form: 'request', at: is(String.raw`\b(?:would|do) you mind\s+()(.+)$`), doer: you, asks: true },
    {
      form: 'request',
      at: is(String.raw`\b(?:can|could|would|will) (?:you|one of you)${polite}\s+()(.+)$`),
      doer: you,
      asks: true,
    },
    {
      form: 'request',
      at: is(String.raw`\b(?:I'd like|I would like|I want|I need) you (?:both |all |guys |two )?to\s+()(.+)$`),
      doer: you,
    },
    {
      form: 'wish',
      at: is(
        String.raw`\bI(?:'ll| will)?(?: just| also| still)? need (?!to\b|you\b)()((?:the|a|an|some|your|all|those|these)\s.+) from you\b`,
      ),
      doer: you,
      named: 'provide',
    },
    {
      form: 'wish',
      at: is(String.raw`\bI(?:'d| would) (?:like|want) to (?:see|receive|get|have)\s+()(.+)$`),
      doer: you,
      named: 'provide',
    },
    {
      form: 'promise',
      named: 'send',
      at: is(String.raw`^you(?:'ll| will)? (?:have|get)\s+()((?:it|them|that|this|the|a|an|my|those|these)\b.*)$`),
      doer: speaker,
      weak: true,
    },
    {
      form: 'assignment',
      at: is(
        String.raw`\byou(?: guys| two| both| all)?(?:'ll| will)?\s+(?:all |both )?(?:need to|have to|must|should|'ve got to)\s+()(.+)$`,
      ),
      doer: you,
    },
    {
      form: 'assignment',
      at: is(
        String.raw`\byou(?: guys| two| both| all)?(?:'ll| will|'re gonna| are gonna|'re going to| are going to| gonna)\s+()(.+)$`,
      ),
      doer: you,
      strict: true,
      weak: true,
    },
    { form: 'request', at: is(String.raw`^if you (?:can|could)\s+()(.+)$`), doer: you, strict: true },
    { form: 'promise', at: is(String.raw`\bI\s*${ownNeed}\s+()(.+)$`), doer: speaker },
    {
      form: 'promise',
      at: is(
        String.raw`\bI\s*(?:can|could|should|plan to|intend to|aim to|want to|'d like to|would like to|am planning to|'m planning to|'m about to|'d better|am|'m)\s+()(.+)$`,
      ),
      doer: speaker,
      weak: true,
    },
    { form: 'promise', at: is(String.raw`\bI(?: would|'d)\s+()(.+)$`), doer: speaker, weak: true, strict: true },
    { form: 'promise', at: is(String.raw`\b(?:let me)\s+()(.+)$`), doer: speaker, weak: true },
    {
      form: 'need',
      at: is(
        String.raw`\b(?:someone|somebody|one of us|anyone)\s+(?:(?:needs|has|ought) to|should|must|please|will)\s+()(.+)$`,
      ),
      doer: somebody,
    },
    {
      form: 'need',
      at: is(
        String.raw`\b(?:everyone|everybody|all of (?:us|you)|the (?:whole )?team|each of (?:us|you))\s+(?:(?:needs|has|have|need) to|should|must|please|will)\s+()(.+)$`,
      ),
      doer: everybody,
      strict: true,
    },
    { form: 'need', at: is(String.raw`^${thing} is to\s+()(.+)$`), doer: somebody, strict: true },
    {
      form: 'need',
      at: is(
        String.raw`\bwe\s*(?:(?:still |also |really )*(?:need to|have to|must|'ve got to|gotta)|'ll|will|are going to|'re going to|agreed to)\s+()(.+)$`,
      ),
      doer: somebody,
      strict: true,
    },
    { form: 'proposal', at: is(String.raw`\blet's\s+()(.+)$`), doer: somebody, strict: true },
    {
      form: 'proposal',
      at: is(String.raw`\b(?:should|shall|could|can) we\s+()(.+)$`),
      doer: somebody,
      strict: true,
      asks: true,
    },
    {
      form: 'proposal',
      at: is(String.raw`\bwe\s*(?:should|can|could)\s+(?:also )?()(.+)$`),
      doer: somebody,
      strict: true,
    },
    { form: 'request', at: is(String.raw`(?:^|,\s*)please\s+()(.+)$`), doer: you, strict: true },
    { form: 'request', at: is(String.raw`^()([a-z][\w-]*\s.+),?\s+please[.!]?$`), doer: you, strict: true },
    {
      form: 'need',
      at: is(String.raw`^()((?:.+\s)(?:needs?|requires?)\s+(?!to\b)(?:\w+ly\s+)?(\w+ing)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
    },
    {
      form: 'need',
      at: is(String.raw`^()((?:.+\s)?(?:needs?|has|have) to be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
    },
    {
      form: 'need',
      at: is(String.raw`^()((?:.+\s)?must be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
    },
    {
      form: 'need',
      at: is(String.raw`^()((?:.+\s)?should be\s+(?:\w+ly\s+)?(\w+)(?:\s.*)?)$`),
      doer: somebody,
      passive: true,
      weak: true,
    },
    {
      form: 'request',
      at: named(String.raw`^${who},\s+((?:please |and |also |then )?[a-z].+)$`),
      doer: called,
      strict: true,
    },
    {
      form: 'assignment',
      at: named(
        String.raw`^(?!(?:The|This|That|These|Those|It|He|She|They|There|What|Who|Which|Where|When|Why|How|If|I|We|You|Nobody|No|Nothing|Everything|Something|People|Someone|Everyone|One|Our|My|Your|His|Her|Their|And|But|So)\b)(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?)(?: (?:from|at|in|of) [\p{L} ]{2,30}?)? (?:will|is going to|needs to|has to)\s+(.+)$`,
      ),
      doer: called,
      strict: true,
      weak: true,
    },
    { form: 'request', at: is(String.raw`^()(make sure\s.+)$`), doer: you, strict: true },
    {
      form: 'request',
      at: is(
        String.raw`^()((?:ask|book|call|check|email|forward|invite|mail|order|prepare|print|remind|schedule|send|update|write)\s.+)$`,
      ),
      doer: you,
      weak: true,
      strict: true,
    },
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
