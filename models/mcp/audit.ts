/**
 * The audit log of an organization's tools. Events are appended and never changed, and each one contains the hash of
 * the event before it. Writers in several processes compete for the number of the next event, which is unique.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, embedded, number, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import type { SecretBox } from '../base/secretbox.ts';
import { sha256 } from './hash.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  auditKinds,
  chainStart,
  checkEnd,
  checkLink,
  checkMark,
  isBreak,
  linkText,
  nothingChecked,
  type Break,
  type Checked,
  linkFields,
  type Link,
  type Mark,
} from '../rules/mcp/audit.ts';
import { authScopes, outcomes, riskTiers, type Outcome } from '../rules/mcp/tool.ts';
import { defined } from '../rules/base/defined.ts';

/** `_id`: given when the same event may be reported twice, so that the event is appended once. */
export type AuditEntry = Omit<AuditEvent, '_id' | 'seq' | 'prev' | 'hash' | 'mac' | 'ts'> & { _id?: string };

export const AuditModel = defineModel(
  'ToolAudit',
  'tool_audit',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    ts: date,
    kind: oneOf(auditKinds),
    /** A signature of `seq` and `hash`, so that nobody without the secret key can append an event. */
    mac: string,
    /** The id of a user, a key or a customer; or `agent`. */
    actor: string,
    action: string,
    tool: optional(string),
    conversation_id: optional(string),
    auth_scope: optional(oneOf(authScopes)),
    risk_tier: optional(oneOf(riskTiers)),
    outcome: optional(oneOf(outcomes)),
    duration_ms: optional(number),
    arguments_sha256: optional(string),
    ...linkFields,
  },
  [
    { fields: { org_id: 1, seq: 1 }, unique: true },
    { fields: { org_id: 1, tool: 1, seq: -1 } },
    { fields: { org_id: 1, conversation_id: 1, seq: -1 } },
  ],
);
type AuditEvent = RecordOf<typeof AuditModel>;

/**
 * The signed checkpoint of an organization's audit chain. `head`: the end of the chain after the last event, so that a
 * truncated chain is detected. `checked`: how far the chain was found intact, so that a check need not read all of it
 * again.
 */
const signedMark = embedded({ seq: linkFields.seq, hash: linkFields.hash, mac: string });
type Signed = ValueOf<typeof signedMark>;

const CheckpointModel = defineModel('ToolAuditCheckpoint', 'tool_audit_checkpoints', {
  /** The organization's id. */
  _id: string,
  head: signedMark,
  checked: optional(signedMark),
});
const checkpoints = () => collectionOf(CheckpointModel);

type Keys = Pick<SecretBox, 'sign' | 'verify'>;
const eventText = (orgId: string, { seq, hash }: Mark): string => JSON.stringify([orgId, seq, hash]);
const signEvent = (orgId: string, mark: Mark, keys: Keys): string => keys.sign('audit', eventText(orgId, mark));
const markText = (orgId: string, name: 'head' | 'checked', { seq, hash }: Mark): string =>
  JSON.stringify([orgId, name, seq, hash]);
const signed = (orgId: string, name: 'head' | 'checked', { seq, hash }: Mark, keys: Keys): Signed => ({
  seq,
  hash,
  mac: keys.sign('audit checkpoints', markText(orgId, name, { seq, hash })),
});
const isSigned = (orgId: string, name: 'head' | 'checked', mark: Signed, keys: Keys): boolean =>
  keys.verify('audit checkpoints', markText(orgId, name, mark), mark.mac) === true;

/**
 * A writer of audit events. Within this process, it appends the events of an organization one after another. When
 * another process was faster, the writer reads the end of the chain again.
 */
export function auditWriter({ clock, secrets }: { clock: () => Date; secrets: Keys }) {
  const heads = new Map<string, Mark>();
  const queues = new Map<string, Promise<unknown>>();

  /**
   * The end of the chain. If the last events were deleted, the end in the checkpoint is returned, so that every check
   * finds the gap.
   */
  async function readHead(orgId: string): Promise<Mark> {
    const [last, checkpoint] = await Promise.all([
      collectionOf(AuditModel).findOne({ org_id: orgId }, { sort: { seq: -1 }, projection: { seq: 1, hash: 1 } }),
      checkpoints().findOne({ _id: orgId }),
    ]);
    const head = checkpoint?.head;
    if (last) return head && head.seq > last.seq ? head : last;
    if (head) return head;
    const start = { seq: 0, hash: chainStart };
    // The checkpoint is stored before the first event, so that events without a checkpoint show that somebody deleted
    // the checkpoint.
    await checkpoints().updateOne(
      { _id: orgId },
      { $setOnInsert: { head: signed(orgId, 'head', start, secrets) } },
      { upsert: true },
    );
    return start;
  }

  async function insert(entry: AuditEntry): Promise<AuditEvent> {
    const { org_id: orgId } = entry;
    for (let head = heads.get(orgId) ?? (await readHead(orgId)); ; head = await readHead(orgId)) {
      const unsealed = { _id: newId('audit'), ...entry, ts: clock(), seq: head.seq + 1, prev: head.hash };
      const hash = hashOf(unsealed);
      const mark = { seq: unsealed.seq, hash };
      const event: AuditEvent = { ...unsealed, hash, mac: signEvent(orgId, mark, secrets) };
      try {
        await collectionOf(AuditModel).insertOne(event);
        await checkpoints().updateOne(
          { _id: orgId, 'head.seq': { $lt: mark.seq } },
          { $set: { head: signed(orgId, 'head', mark, secrets) } },
        );
        // Few organizations write at the same time, so clearing the cache now and then is cheap.
        if (heads.size > 10_000) heads.clear();
        heads.set(orgId, mark);
        return event;
      } catch (error) {
        heads.delete(orgId);
        if (!isDuplicate(error)) throw error;
        const standing = entry._id && (await collectionOf(AuditModel).findOne({ _id: entry._id, org_id: orgId }));
        if (standing) return standing;
      }
    }
  }

  return async (entry: AuditEntry): Promise<AuditEvent> => {
    const { org_id: orgId } = entry;
    const before = queues.get(orgId) ?? Promise.resolve();
    const writing = before.then(
      () => insert(entry),
      () => insert(entry),
    );
    queues.set(orgId, writing);
    try {
      return await writing;
    } finally {
      if (queues.get(orgId) === writing) queues.delete(orgId);
    }
  };
}
export type AuditWriter = ReturnType<typeof auditWriter>;

/** The hash of an event, in which the time has its ISO 8601 form. */
const hashOf = (event: Omit<AuditEvent, 'hash' | 'mac'>): string =>
  sha256(linkText({ ...event, ts: event.ts.toISOString() } as Omit<Link, 'hash'>));

export type AuditFilter = {
  modes: readonly Mode[];
  tool?: string | undefined;
  outcome?: Outcome | undefined;
  conversation_id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** Events with a number below `after`, newest first. */
export async function listAudit(
  orgId: string,
  { modes: shown, tool, outcome, conversation_id, from, to }: AuditFilter,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<AuditEvent[]> {
  const ts = { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) };
  return collectionOf(AuditModel)
    .find({
      org_id: orgId,
      mode: { $in: [...shown] },
      ...defined({ tool, outcome, conversation_id }),
      ...(from || to ? { ts } : {}),
      ...(after === undefined ? {} : { seq: { $lt: after } }),
    })
    .sort({ seq: -1 })
    .limit(limit)
    .toArray();
}

/**
 * `checked`: the number of events known to be intact, from the first one on. `read`: how many of them this check has
 * read.
 */
export type Verified = { intact: boolean; checked: number; read: number; first_broken?: Break };

/**
 * Checks the audit chain of an organization, which covers both modes, and returns the first broken event. The check
 * starts where the last one ended, unless `whole` is true.
 */
export async function verifyAudit(orgId: string, secrets: Keys, { whole = false } = {}): Promise<Verified> {
  // The checkpoint is read first, so that events appended meanwhile do not disturb the check.
  const checkpoint = await checkpoints().findOne({ _id: orgId });
  if (!checkpoint) {
    const event = await collectionOf(AuditModel).findOne({ org_id: orgId }, { projection: { _id: 1 } });
    return broken(0, 0, event ? { seq: 0, reason: 'unsigned' } : undefined);
  }
  const { head, checked } = checkpoint;
  const isProven = isSigned(orgId, 'head', head, secrets) && (!checked || isSigned(orgId, 'checked', checked, secrets));
  if (!isProven) return broken(0, 0, { seq: 0, reason: 'unsigned' });
  const lost = checked && !whole ? await lostAt(orgId, checked) : undefined;
  if (lost) return broken(lost.seq - 1, 0, lost);
  const from = checked && !whole ? { checked: checked.seq, last: checked.hash } : nothingChecked;
  let state: Checked = from;
  const said = (found?: Break): Verified => broken(state.checked, state.checked - from.checked, found);
  const events = collectionOf(AuditModel)
    .find({ org_id: orgId, seq: { $gt: from.checked } })
    .sort({ seq: 1 })
    .batchSize(500);
  for await (const { ts, mac, ...event } of events) {
    const next = checkLink(state, { ...event, ts: ts instanceof Date ? ts.toISOString() : ts } as Link, sha256);
    if (isBreak(next)) return said(next);
    // The signing key of an event may have been removed from the configuration. Events up to the signed checkpoint were
    // checked before, so they count as signed.
    const isOwn = secrets.verify('audit', eventText(orgId, event), mac) ?? event.seq <= (checked?.seq ?? 0);
    if (!isOwn) return said({ seq: event.seq, reason: 'unsigned' });
    const crossed = [head, ...(checked ? [checked] : [])].map((mark) => checkMark(next, mark)).find(Boolean);
    if (crossed) return said(crossed);
    state = next;
  }
  const cut = checkEnd(state, head);
  if (cut) return said(cut);
  if (state.checked > (checked?.seq ?? 0)) await keepChecked(orgId, { seq: state.checked, hash: state.last }, secrets);
  return said();
}

/**
 * Returns a break when the last event that an earlier check covered is missing or altered. The current check starts
 * after this event, so alone it would not notice that the chain was truncated.
 */
async function lostAt(orgId: string, { seq, hash }: Mark): Promise<Break | undefined> {
  const event = await collectionOf(AuditModel).findOne({ org_id: orgId, seq });
  if (!event) return { seq, reason: 'missing' };
  return event.hash === hash && hashOf(event) === hash ? undefined : { seq, reason: 'altered' };
}

const broken = (checked: number, read: number, found?: Break): Verified => ({
  intact: found === undefined,
  checked,
  read,
  ...defined({ first_broken: found }),
});

async function keepChecked(orgId: string, mark: Mark, secrets: Keys): Promise<void> {
  const behind = [{ checked: { $exists: false } }, { 'checked.seq': { $lt: mark.seq } }];
  await checkpoints().updateOne(
    { _id: orgId, $or: behind },
    { $set: { checked: signed(orgId, 'checked', mark, secrets) } },
  );
}

/**
 * Checks each chain, which moves the checkpoint `checked` to the end of an intact chain, and signs the checkpoints with
 * the newest key. So older keys are no longer needed. Returns the organizations whose chain is broken. Idempotent.
 */
export async function resignAudits(secrets: SecretBox): Promise<{ resigned: number; broken: string[] }> {
  const done = { resigned: 0, broken: [] as string[] };
  for (let last = ''; ;) {
    const page = await checkpoints()
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(100)
      .toArray();
    for (const { _id } of page) {
      if (!(await verifyAudit(_id, secrets)).intact) done.broken.push(_id);
      const { head, checked } = (await checkpoints().findOne({ _id }))!;
      for (const [name, mark] of Object.entries({ head, checked }) as ['head' | 'checked', Signed | undefined][]) {
        if (!mark || secrets.isNewest(mark.mac) || !isSigned(_id, name, mark, secrets)) continue;
        const { matchedCount } = await checkpoints().updateOne(
          { _id, [`${name}.mac`]: mark.mac },
          { $set: { [name]: signed(_id, name, mark, secrets) } },
        );
        done.resigned += matchedCount;
      }
    }
    if (page.length < 100) return done;
    last = page.at(-1)!._id;
  }
}
