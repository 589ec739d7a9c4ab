/**
 * What happened with an organization's tools: appended, never changed, each event bound to the one before it by its hash.
 * Writers of several processes meet at the number of the next event, which only one of them gets.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { sha256 } from './hash.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  auditKinds,
  chainStart,
  checkLink,
  isBreak,
  linkText,
  nothingChecked,
  type AuditKind,
  type Break,
  type Link,
} from '../rules/mcp/audit.ts';
import type { AuthScope, Outcome, RiskTier } from '../rules/mcp/tool.ts';

export type AuditEvent = Link & {
  _id: string;
  org_id: string;
  mode: Mode;
  ts: Date;
  kind: AuditKind;
  /** A user's, a key's or a customer's id; `agent`. */
  actor: string;
  action: string;
  tool?: string;
  conversation_id?: string;
  auth_scope?: AuthScope;
  risk_tier?: RiskTier;
  outcome?: Outcome;
  duration_ms?: number;
  arguments_sha256?: string;
};
/** `_id`: of an event that may be reported again; it is appended once. */
export type AuditEntry = Omit<AuditEvent, '_id' | 'seq' | 'prev' | 'hash' | 'ts'> & { _id?: string };

export const AuditModel = defineModel<AuditEvent>(
  'ToolAudit',
  'tool_audit',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    seq: { type: Number, required: true },
    prev: { type: String, required: true },
    hash: { type: String, required: true },
    ts: { type: Date, required: true },
    kind: { type: String, enum: auditKinds, required: true },
    actor: { type: String, required: true },
    action: { type: String, required: true },
    tool: String,
    conversation_id: String,
    auth_scope: String,
    risk_tier: String,
    outcome: String,
    duration_ms: Number,
    arguments_sha256: String,
  },
  [
    { fields: { org_id: 1, seq: 1 }, unique: true },
    { fields: { org_id: 1, tool: 1, seq: -1 } },
    { fields: { org_id: 1, conversation_id: 1, seq: -1 } },
  ],
);

type Head = Pick<Link, 'seq' | 'hash'>;

/**
 * A writer of audit events. Events of one organization follow each other in this process; another process that was faster
 * makes it read the end of the chain anew.
 */
export function auditWriter(clock: () => Date) {
  const heads = new Map<string, Head>();
  const queues = new Map<string, Promise<unknown>>();

  async function readHead(orgId: string): Promise<Head> {
    const last = await collectionOf(AuditModel).findOne(
      { org_id: orgId },
      { sort: { seq: -1 }, projection: { seq: 1, hash: 1 } },
    );
    return last ?? { seq: 0, hash: chainStart };
  }

  async function insert(entry: AuditEntry): Promise<AuditEvent> {
    const { org_id: orgId } = entry;
    for (let head = heads.get(orgId) ?? (await readHead(orgId)); ; head = await readHead(orgId)) {
      const unsealed = { _id: newId('audit'), ...entry, ts: clock(), seq: head.seq + 1, prev: head.hash };
      const event: AuditEvent = { ...unsealed, hash: hashOf(unsealed) };
      try {
        await collectionOf(AuditModel).insertOne(event);
        // Few organizations write at a time; a process that serves many forgets them all now and then.
        if (heads.size > 10_000) heads.clear();
        heads.set(orgId, { seq: event.seq, hash: event.hash });
        return event;
      } catch (error) {
        heads.delete(orgId);
        if (!isDuplicate(error)) throw error;
        const standing = entry._id && (await collectionOf(AuditModel).findOne({ _id: entry._id }));
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

/** Times are hashed as they are written in replies. */
const hashOf = (event: Omit<AuditEvent, 'hash'>): string =>
  sha256(linkText({ ...event, ts: event.ts.toISOString() } as Omit<Link, 'hash'>));

export type AuditFilter = {
  modes: readonly Mode[];
  tool?: string | undefined;
  outcome?: Outcome | undefined;
  conversation_id?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** Events, the newest first, from before `after` (an event's number) on. */
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
      ...(tool === undefined ? {} : { tool }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(conversation_id === undefined ? {} : { conversation_id }),
      ...(from || to ? { ts } : {}),
      ...(after === undefined ? {} : { seq: { $lt: after } }),
    })
    .sort({ seq: -1 })
    .limit(limit)
    .toArray();
}

export type Verified = { intact: boolean; checked: number; first_broken?: Break };

/** Checks the whole chain of an organization, both modes, and names the first link that does not hold. */
export async function verifyAudit(orgId: string): Promise<Verified> {
  let state = nothingChecked;
  const events = collectionOf(AuditModel).find({ org_id: orgId }).sort({ seq: 1 }).batchSize(500);
  for await (const { ts, ...event } of events) {
    const next = checkLink(state, { ...event, ts: ts instanceof Date ? ts.toISOString() : ts } as Link, sha256);
    if (isBreak(next)) return { intact: false, checked: state.checked, first_broken: next };
    state = next;
  }
  return { intact: true, checked: state.checked };
}
