/** English words for promises, requests and hedges. Data for commitments.ts and tasks.ts. Pure. */
import { listed } from '../../../models/rules/language/words/lists.ts';

/** Verbs of work. After `we will` and in imperatives, only these make a task. */
export const actionVerbs: ReadonlySet<string> = new Set(
  listed(`
  add adjust align analyse analyze announce answer approve archive arrange ask assemble assign assist audit automate back
  backfill block book brief bring build buy call cancel change chase check choose circulate clarify clean clear close
  collect compare compile complete compose confirm configure connect contact convert coordinate copy correct create cut
  decide define delete deliver deploy describe design determine develop disable discuss distribute document double-check
  download draft drop edit email enable ensure escalate estimate evaluate examine expand explain explore export extend
  file fill finalise finalize find focus finish fix follow forward gather generate get give grant handle help hire identify
  implement import improve include inform inspect install integrate interview introduce investigate invite invoice
  launch list log look mail make map measure meet merge message migrate monitor move negotiate notify obtain offer
  onboard order organise organize outline own pay phone pick pilot ping place plan post prepare present prioritise
  prioritize print produce proofread propose provide publish pull purchase push put query raise reach read rebuild record recruit
  redesign redo reduce refactor refund register release remind remove rename renew renegotiate repair replace reply
  report request research reserve resolve respond restart restore return review revise rewrite rotate run scan schedule
  sell send set settle set-up ship shortlist sign simplify sort speak specify split start store submit summarise
  summarize supply support switch sync take talk tell test tidy track train transfer translate triage troubleshoot try turn
  unblock update upgrade upload validate verify visit work write`),
);

/** Verbs about oneself that are not work: `I will miss you`. */
export const idleVerbs: ReadonlySet<string> = new Set(
  listed(`
  admit agree appreciate assume be begin believe bet care come continue deny die doubt dream drink drop eat enjoy excuse
  fall feel forget forgive go grab guess happen hate have hear hold hope imagine join jump keep know laugh leave let lie
  like listen live lose love mean mention miss mute need never not notice pass pause pray promise realise realize
  recognise recognize regret relax remain remember repeat rest say see seem sit skip sleep speak spend stand start stay
  step stop suffer suppose survive suspect swear tell thank think trust understand unmute wait walk want watch
  wish wonder worry`),
);

/** Phrases in which a verb of `idleVerbs` does mean work. */
export const atWork =
  /^(?:get back to|go to (?:the|a) (?!next|beginning|end|point|slide|last|first|other|top|bottom)|walk (?:\S+ ){1,4}through|get (?:those|these|them|it|that) (?:sorted|done|fixed|signed|approved|sent|ready|finished)|let (?:\S+ ){1,3}know|go (?:through|over|ahead and)|keep (?:track|an eye)|come (?:up|back) (?:with|to)|join (?:the|a|their|his|her) (?:call|meeting)|have (?:it|them|this|that)\b|have (?:\S+ )+(?:ready|done|finished|signed|fixed|sent)|speak (?:to|with)|start (?:on|with|working|writing|preparing|planning)|tell (?!you\b|me\b|us\b)|try (?:to|and|out)|step in for|hold a|stop (?:the|using)|mention (?:it|this|that) to|drop (?:the|a|an|off)|keep \S+ (?:updated|posted|informed))/iu;

/** Phrases that steer a conversation or ask for something at once; they are never a task, even with a verb of work. */
export const idleTalk =
  /^(?:(?:share|see|show) (?:my|your|the) screen|take (?:your|his|her|their) word|take (?:the |some |our )?(?:minutes|notes)|look at (?:this|that|it|the screen|my)|take (?:a |your |my )?(?:break|nap|seat|minute|second|moment|breath|walk|look at (?:this|my))|turn (?:on|off|up|down) your|(?:give|grant|lend) (?:me|us|it) (?:a|one|just a|another|some)?\s*(?:second|sec|minute|moment|hand|time|example|idea|break|go|try|shot|rest)|get (?:going|started|a coffee|some coffee|coffee|a drink|lunch|it|that|there|here|used|lost|to)\b|move on|run (?:out|now)|talk (?:soon|later|again|about)|discuss .*\b(?:next time|later|now|first)|check in (?:later|again)|call it a day|make (?:it|sense|a difference)|find out soon|meet (?:again|next|then|tomorrow)|pick (?:this|it|that) up (?:later|next)|(?:pick up|fetch|get|collect|feed|walk|bring) (?:my|our) (?:kids?|child|children|son|daughter|wife|husband|partner|mother|father|parents|dog|cat|car|lunch)|(?:go to|see|visit) (?:my|the) (?:doctor|dentist)|read (?:it|this|that)? ?(?:out|aloud)|start (?:the )?recording|put (?:it|this|that) (?:differently|this way|another way)|take (?:that|it) (?:offline|back|personally|seriously)|ask (?:you|yourself|a question|something|one)|answer that|explain\b(?! to)|(?:present|introduce) (?:myself|yourselves|yourself|ourselves)|tell (?:me|us|you)|close (?:the|my) (?:door|window)|help (?:myself|yourself)|work (?:out$|out (?:well|fine|okay)|from|on that assumption)|turn out|add (?:that|to that|one thing|something)|describe (?:it|this)|buy (?:you|lunch|coffee)|bring (?:a |some )?(?:cake|coffee|food|drinks|snacks|lunch))\b/iu;

/** Words before a promise that cancel or weaken it. */
export const holdingBack =
  /\b(?:if|unless|maybe|perhaps|possibly|might|hope|hopefully|wonder|wish|imagine|suppose|doubt|whether|said|says|told|thought|claimed|asked|why|how|what|when(?:ever)? (?:will|are)|would|could have|should have|not|n't|never|nobody|no one|nothing|don't|didn't|without|instead of|pretend|probably)\b/iu;

export const already = /\balready\b/iu;
/** First words that hedge or deny: `I will probably`, `we will not`. */
export const undone = /^(?:not|never|probably|maybe|perhaps|possibly|hardly|no longer|n't|likely|eventually have)\b/iu;

/** Words between the promise and the task, which are skipped. */
export const beforeDeed =
  /^(?:then|also|all|both|just|now|still|too|definitely|certainly|personally|happily|gladly|quickly|simply|please|kindly|go ahead and|try (?:to|and)|make sure (?:that )?(?:to |we |you |I )?|be sure to|have to|need to|be able to|be happy to|be glad to|take care of(?= \w+ing)|help (?:you |us |them |him |her )?(?:to )?(?=\w+ (?:the|a|an|my|our|your)\b)|immediately|urgently|absolutely|really|at least|first|finally|again|be the one to|be so kind (?:as )?to|get to work and)\s+/iu;

export const urgency = {
  low: /\b(?:(?:not|isn't|n't|no) (?:that |so |very |really )?(?:urgent|critical|important)|low[- ]priority|no (?:real )?(?:rush|hurry)|whenever (?:you|I|we|he|she|they)|(?:when|if) (?:you|I|we|he|she|they) (?:have|get|find) (?:a chance|a moment|time|some time)|at some point|eventually|nice[- ]to[- ]have|take your time)\b/iu,
  urgent:
    /\b(?:urgent(?:ly)?|asap|as soon as (?:possible|you can|I can|we can)|immediately|right away|straight away|at once|critical(?:ly)?|can't wait|cannot wait|emergency|top priority|highest priority|blocker|without delay)\b/iu,
  high: /\b(?:high[- ]priority|important|crucial|essential|a priority|quickly|pressing|soon)\b/iu,
} as const;

/** Phrases that cancel the task that was just spoken of, whoever says them. */
export const calledOff =
  /\b(?:let us not|let's not|(?:we|let's) (?:just )?leave it(?! (?:to|with))|leave it (?:for now|at that)|never ?mind|forget (?:about )?(?:it|that)\b|drop (?:it|that)\b|scrap (?:it|that)\b|don't bother|no need|not necessary|hold off)\b/iu;
/** Actions that people do in front of the others during the meeting; they count as a task only with a date. */
export const shownHere =
  /^(?:show (?:you|me|us|everyone|everybody|this|that)|explain (?:it|this|that|how|what|why|to you)|demo|demonstrate|go (?:through|over) (?:it|this|that|them|the (?:list|agenda|slides|notes|minutes))|walk (?:you|us|everybody|everyone) through|scroll|zoom|skip|click|repeat|switch over)\b/iu;
export const doneHere =
  /^(?:(?:there|ok|okay|so|right|and)[,.]?\s*)*(?:(?:that's |it's )?(?:done|sent|finished|sorted)|there (?:we|you) go|here (?:we|you) go)[.!]*$|\balready (?:done|did|sent|booked|ordered|called|finished)\b|\bwhile we (?:talk|speak|are at it)\b/iu;
/** A promise or request without an object of its own; it refers to what was said before. */
export const pointing =
  /^(?:(?:do|take|handle|take care of|own|get|sort|manage|look at|look into|get on|see to)(?: to)? (?:it|that|this|them|those|these|this one|that one|so)(?=\s*(?:$|[.,;!?]|\b(?:by|before|on|today|tonight|tomorrow|now|for|then|too|asap|right|as|next|this|if|when|once|after|until|while|soon|again|monday|tuesday|wednesday|thursday|friday|saturday|sunday|instead|over)\b))|(?:set|sort|take|arrange) (?:it|that|this|them) (?:up|out|over|on)\b)/iu;
