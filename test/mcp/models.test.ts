/**
 * MongoDB records about tools under concurrent writes of several processes: one chain of audit events, one decision per
 * call, one sender, one renewal of tokens.
 * Further tests show that tampering with the audit chain is detected.
 */
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createToolCallActivities } from '../../activities/chat/toolcall.ts';
import type { CallDeps, ToolCallDeps } from '../../activities/chat/toolcall/deps.ts';
import { checkPin, limit } from '../../activities/chat/toolcall/policy.ts';
import { createConnections, type ConnectionDeps } from '../../activities/mcp/connection.ts';
import type { Context } from '../../api/context.ts';
import { mcpRoutes } from '../../api/mcp/routes/mcp.ts';
import { viewServer } from '../../api/mcp/server.ts';
import type { OAuthState } from '../../clients/mcp/oauth.ts';
import { listNotifications } from '../../models/access/notification.ts';
import { createOrganization, newOrganization } from '../../models/access/organization.ts';
import { collectionOf } from '../../models/base/define.ts';
import { newId } from '../../models/base/ids.ts';
import mongoose from 'mongoose';
import { createSecretBox } from '../../models/base/secretbox.ts';
import {
  AuditModel,
  auditWriter,
  listAudit,
  resignAudits,
  verifyAudit,
  type AuditEntry,
} from '../../models/mcp/audit.ts';
import {
  createToolCall,
  decideCall,
  findToolCall,
  keepSending,
  moveCall,
  resend,
  type ToolCall,
} from '../../models/mcp/call.ts';
import { pinOf, sha256 } from '../../models/mcp/hash.ts';
import { takeCall } from '../../models/mcp/limit.ts';
import {
  findToolServer,
  forgetOAuthState,
  keepOAuthState,
  saveToolServer,
  suspendTool,
  ToolServerModel,
  type ToolServer,
} from '../../models/mcp/server.ts';
import { linkText } from '../../models/rules/mcp/audit.ts';
import type { ApprovedTool } from '../../models/rules/mcp/tool.ts';
import { modelsIn } from '../kit/database.ts';

modelsIn('mcpmodels');

const now = new Date('2096-01-02T03:04:05Z');
let orgId: string;
beforeEach(() => {
  orgId = newId('org');
});
const tally = (given: readonly unknown[]) => given.filter(Boolean).length;
const times = <T>(count: number, what: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => what(at));

/** The clock of a process that dies when it reads the time. */
const dying = (): Date => {
  throw new Error('The process dies.');
};

const oldKey = Buffer.alloc(32, 3);
const secrets = createSecretBox([oldKey]);

describe('a change of the tool server', () => {
  const endpoint_url = 'https://tools.example.com/mcp';
  const ask = (name: string, secretKeys: readonly Buffer[], actor = 'usr_1') => {
    const { handle } = mcpRoutes.find((one) => one.name === name)!;
    const ctx = { clock: () => now, secrets, config: { secretKeys, egressAllow: [] } } as unknown as Context;
    const principal = { orgId, mode: 'test', actor };
    return (handle as (input: object, ctx: Context) => Promise<unknown>)(
      { params: { orgId }, principal, body: { endpoint_url } },
      ctx,
    );
  };
  const actions = async () =>
    (await listAudit(orgId, { modes: ['test'] }, { limit: 9 })).map(({ action }) => action).toReversed();

  it('a change of the tool server is not made when its audit event cannot be appended', async () => {
    await expect(ask('putToolServer', [])).rejects.toThrow();
    expect(await findToolServer(orgId)).toBeNull();
    await ask('putToolServer', [oldKey]);
    await expect(ask('deleteToolServer', [])).rejects.toThrow();
    expect(await findToolServer(orgId)).toMatchObject({ endpoint_url });
    await ask('deleteToolServer', [oldKey]);
    expect(await findToolServer(orgId)).toBeNull();
    expect(await actions()).toEqual(['server_connected', 'server_disconnected']);
  });

  it('a tool server whose removal was audited but failed can be removed by another request, which is audited under its own actor', async () => {
    await ask('putToolServer', [oldKey]);
    const standing = (await findToolServer(orgId))!;
    await ask('deleteToolServer', [oldKey]);
    await saveToolServer(standing, 0);
    await ask('deleteToolServer', [oldKey], 'usr_2');
    expect(await findToolServer(orgId)).toBeNull();
    expect(await actions()).toEqual(['server_connected', 'server_disconnected', 'server_disconnected']);
    const [last] = await listAudit(orgId, { modes: ['test'] }, { limit: 1 });
    expect(last).toMatchObject({ actor: 'usr_2', action: 'server_disconnected' });
    await expect(ask('deleteToolServer', [oldKey])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('a change of the tool server that is retried after a concurrent change is audited as an update, not as a connection', async () => {
    await ask('putToolServer', [oldKey]);
    // The first attempt reads the server before the concurrent request has stored it.
    const reads = jest.spyOn(collectionOf(ToolServerModel), 'findOne').mockResolvedValueOnce(null);
    await ask('putToolServer', [oldKey]);
    reads.mockRestore();
    expect(await actions()).toEqual(['server_connected', 'server_connected', 'server_updated']);
  });
});

describe('the audit log', () => {
  const entry = (index: number): AuditEntry => ({
    org_id: orgId,
    mode: index % 2 === 0 ? 'test' : 'live',
    kind: 'invocation',
    actor: 'agent',
    action: 'call',
    tool: `tool_${index}`,
    outcome: 'ok',
    arguments_sha256: sha256(String(index)),
  });
  const row = (seq: number) => ({ org_id: orgId, seq });

  it('the audit log stays one hash chain when several processes write at the same time', async () => {
    const writers = times(4, () => auditWriter({ clock: () => now, secrets }));
    await Promise.all(times(80, (index) => writers[index % 4]!(entry(index))));
    expect(await verifyAudit(orgId, secrets)).toEqual({ intact: true, checked: 80, read: 80 });
    const listed = await listAudit(orgId, { modes: ['test', 'live'] }, { limit: 100 });
    expect(new Set(listed.map(({ tool }) => tool)).size).toBe(80);
  });

  it('the audit log stores a repeated event once, whichever process reports it', async () => {
    const writers = times(3, () => auditWriter({ clock: () => now, secrets }));
    const _id = `aud_${randomUUID()}`;
    const all = await Promise.all(times(9, (index) => writers[index % 3]!({ ...entry(0), _id })));
    expect([new Set(all.map(({ seq }) => seq)).size, (await verifyAudit(orgId, secrets)).checked]).toEqual([1, 1]);
  });

  it('events of two organizations that are written at the same time go to a separate audit log each', async () => {
    const write = auditWriter({ clock: () => now, secrets });
    const other = newId('org');
    await Promise.all([write(entry(0)), write({ ...entry(1), org_id: other }), write(entry(2))]);
    expect([await verifyAudit(orgId, secrets), await verifyAudit(other, secrets)]).toEqual([
      { intact: true, checked: 2, read: 2 },
      { intact: true, checked: 1, read: 1 },
    ]);
  });

  const chain = async () => {
    const write = auditWriter({ clock: () => now, secrets });
    for (const index of times(6, (at) => at)) await write(entry(index));
    return collectionOf(AuditModel);
  };

  it.each([
    ['its outcome', { $set: { outcome: 'denied' as const } }],
    ['who did it', { $set: { actor: 'usr_somebody' } }],
    ['when', { $set: { ts: new Date(0) } }],
    ['the hash of its arguments', { $set: { arguments_sha256: sha256('others') } }],
    ['a field that is gone', { $unset: { tool: 1 as const } }],
  ])('the audit log reveals an alteration of an event: %s', async (_what, change) => {
    const rows = await chain();
    await rows.updateOne(row(3), change);
    expect(await verifyAudit(orgId, secrets)).toEqual({
      intact: false,
      checked: 2,
      read: 2,
      first_broken: { seq: 3, reason: 'altered' },
    });
  });

  it('the audit log reveals an event that was altered and hashed again, because only the system can sign it', async () => {
    const rows = await chain();
    const third = (await rows.findOne(row(3)))!;
    const forged = { ...third, outcome: 'denied' as const };
    const hash = sha256(linkText({ ...forged, ts: forged.ts.toISOString() } as never));
    await rows.replaceOne({ _id: third._id, org_id: third.org_id }, { ...forged, hash });
    expect((await verifyAudit(orgId, secrets)).first_broken).toEqual({ seq: 3, reason: 'unsigned' });
  });

  it('the audit log reveals an event that somebody appended', async () => {
    const rows = await chain();
    const last = (await rows.findOne(row(6)))!;
    const forged = { ...last, _id: 'aud_forged', seq: 7, prev: last.hash, outcome: 'denied' as const };
    const hash = sha256(linkText({ ...forged, ts: forged.ts.toISOString() } as never));
    await rows.insertOne({ ...forged, hash });
    expect(await verifyAudit(orgId, secrets)).toMatchObject({
      intact: false,
      first_broken: { seq: 7, reason: 'unsigned' },
    });
    // The chain stays invalid when the system itself appends events afterwards.
    await auditWriter({ clock: () => now, secrets })(entry(7));
    expect((await verifyAudit(orgId, secrets)).first_broken).toEqual({ seq: 7, reason: 'unsigned' });
  });

  it('the audit log is verified from the end of the last check, or completely on request', async () => {
    const rows = await chain();
    expect(await verifyAudit(orgId, secrets)).toEqual({ intact: true, checked: 6, read: 6 });
    const write = auditWriter({ clock: () => now, secrets });
    await write(entry(6));
    expect(await verifyAudit(orgId, secrets)).toEqual({ intact: true, checked: 7, read: 1 });
    expect(await verifyAudit(orgId, secrets)).toEqual({ intact: true, checked: 7, read: 0 });
    await rows.updateOne(row(2), { $set: { outcome: 'denied' as const } });
    expect(await verifyAudit(orgId, secrets, { whole: true })).toEqual({
      intact: false,
      checked: 1,
      read: 1,
      first_broken: { seq: 2, reason: 'altered' },
    });
  });

  it.each([
    ['before any check', 0],
    ['after a check', 6],
  ])(
    'the audit log reveals that its last events were removed %s, even after further events were appended',
    async (_when, checked) => {
      const rows = await chain();
      if (checked > 0) await verifyAudit(orgId, secrets);
      await rows.deleteMany({ org_id: orgId, seq: { $gt: 4 } });
      const found = { intact: false, first_broken: { seq: checked > 0 ? 6 : 5, reason: 'missing' } };
      expect(await verifyAudit(orgId, secrets)).toMatchObject(found);
      // A new process reads where the chain ends.
      for (const index of times(4, (at) => at)) await auditWriter({ clock: () => now, secrets })(entry(index));
      expect((await rows.find({ org_id: orgId, seq: { $gt: 4 } }).toArray()).map(({ seq }) => seq)).toEqual([
        7, 8, 9, 10,
      ]);
      for (const whole of [false, true]) expect((await verifyAudit(orgId, secrets, { whole })).intact).toBe(false);
    },
  );

  it('the audit log counts as broken without its checkpoint, or with the checkpoint of another organization', async () => {
    await chain();
    const marks = mongoose.connection.collection<{ _id: string }>('tool_audit_checkpoints');
    const unsigned = { intact: false, checked: 0, read: 0, first_broken: { seq: 0, reason: 'unsigned' } };
    const own = (await marks.findOne({ _id: orgId }))!;
    await marks.deleteOne({ _id: orgId });
    expect(await verifyAudit(orgId, secrets)).toEqual(unsigned);
    await auditWriter({ clock: () => now, secrets })(entry(7));
    expect(await verifyAudit(orgId, secrets)).toEqual(unsigned);
    const other = newId('org');
    await auditWriter({ clock: () => now, secrets })({ ...entry(0), org_id: other });
    await marks.replaceOne({ _id: other }, { ...own, _id: other });
    expect(await verifyAudit(other, secrets)).toEqual(unsigned);
  });

  it('the audit log can be verified without its old key once a new key has signed its checkpoint', async () => {
    const rows = await chain();
    const newKey = Buffer.alloc(32, 9);
    const [both, only] = [createSecretBox([newKey, oldKey]), createSecretBox([newKey])];
    expect((await verifyAudit(orgId, only)).first_broken).toEqual({ seq: 0, reason: 'unsigned' });
    expect((await resignAudits(both)).resigned).toBeGreaterThan(0);
    await auditWriter({ clock: () => now, secrets: both })(entry(6));
    expect(await verifyAudit(orgId, only)).toEqual({ intact: true, checked: 7, read: 1 });
    expect(await verifyAudit(orgId, only, { whole: true })).toEqual({ intact: true, checked: 7, read: 7 });
    await rows.updateOne(row(2), { $set: { outcome: 'denied' as const } });
    expect((await verifyAudit(orgId, only, { whole: true })).first_broken).toEqual({ seq: 2, reason: 'altered' });
  });

  it.each([1, 3])('the audit log reveals where event %i was removed', async (seq) => {
    const rows = await chain();
    await rows.deleteOne(row(seq));
    expect((await verifyAudit(orgId, secrets)).first_broken).toEqual({ seq, reason: 'missing' });
  });

  it('the audit log reveals the first of two swapped events', async () => {
    const rows = await chain();
    await rows.updateOne(row(2), { $set: { seq: 100 } });
    await rows.updateOne(row(3), { $set: { seq: 2 } });
    await rows.updateOne(row(100), { $set: { seq: 3 } });
    expect((await verifyAudit(orgId, secrets)).first_broken).toEqual({ seq: 2, reason: 'altered' });
  });
});

const stored = async (fields: Partial<ToolCall> = {}): Promise<ToolCall> => {
  const call: ToolCall = {
    _id: newId('toolCall'),
    org_id: orgId,
    mode: 'test',
    conv_id: 'conv_1',
    customer_id: 'cus_1',
    message_id: randomUUID(),
    ordinal: 1,
    tool_name: 'cancel_order',
    risk_tier: 'admin_approve',
    auth_scope: 'public',
    pin: 'p',
    arguments: '{}',
    arguments_sha256: sha256('{}'),
    state: 'waiting',
    awaited: 'member',
    ask_until: new Date(now.getTime() + 1_000),
    held_back: 0,
    created_at: now,
    ...fields,
  };
  return (await createToolCall(call))!;
};

describe('a tool call', () => {
  it('a tool call is stored once per message and call number', async () => {
    const message_id = randomUUID();
    const all = await Promise.all(
      times(5, () =>
        stored({ message_id }).then(
          (call) => call,
          () => null,
        ),
      ),
    );
    expect(tally(all)).toBe(1);
  });

  it('a tool call accepts the first of concurrent decisions, and no decision after the deadline', async () => {
    const call = await stored();
    const decide = (index: number, at = now) =>
      decideCall(call, { by: 'member', approved: index % 2 === 0, actor: `usr_${index}`, at }, []);
    const all = await Promise.all(times(8, (index) => decide(index)));
    const counted = all.filter((one) => one !== null);
    expect(counted).toHaveLength(1);
    const standing = await findToolCall(orgId, call._id);
    expect([standing?.state, standing?.decided_by]).toEqual([counted[0]!.state, counted[0]!.decided_by]);
    const late = await stored();
    expect(
      await decideCall(late, { by: 'member', approved: true, actor: 'usr_1', at: late.ask_until! }, []),
    ).toBeNull();
  });

  it('one sender claims a tool call, and after its time limit another sender may take over a call that only reads', async () => {
    const call = await stored({ state: 'agreed', risk_tier: 'read_private' });
    const claims = await Promise.all(times(6, (index) => moveCall(call, 'send', { attempt: `attempt_${index}` })));
    expect(tally(claims)).toBe(1);
    const claimed = claims.find((one) => one !== null)!;
    const later = (ms: number) => new Date(now.getTime() + ms);
    const again = (attempt: string, at: Date) => resend(claimed, { attempt, sending_until: later(99_000) }, at);
    await keepSending(claimed, claimed.attempt!, later(6_000));
    // Before the sender's time limit, the call cannot be taken over.
    expect(await again('early', later(5_999))).toBe(false);
    const taken = await Promise.all(times(6, (index) => again(`again_${index}`, later(6_000))));
    expect(tally(taken)).toBe(1);
    await keepSending(claimed, claimed.attempt!, now);
    expect((await findToolCall(orgId, call._id))?.sending_until).toEqual(later(99_000));
    // The previous sender can no longer store an outcome.
    const finish = (attempt: string) =>
      moveCall(call, 'finish', { outcome: 'ok', ended_at: now }, { only: { attempt } });
    const standing = await findToolCall(orgId, call._id);
    expect([await finish(claimed.attempt!), (await finish(standing!.attempt!))?.state]).toEqual([null, 'ended']);
  });

  it('a tool call is not found in another organization', async () => {
    const call = await stored();
    expect(await findToolCall(newId('org'), call._id)).toBeNull();
    expect(await moveCall({ ...call, org_id: newId('org') }, 'agree')).toBeNull();
  });
});

describe('the rate limit of tool calls', () => {
  it('the rate limit of tool calls applies to all processes together, and starts again every minute', async () => {
    const taken = await Promise.all(times(12, () => takeCall(orgId, 5, now)));
    expect(tally(taken.map(({ waitMs }) => waitMs === undefined))).toBe(5);
    // Five seconds of this minute have passed.
    expect(Math.max(...taken.map(({ waitMs = 0 }) => waitMs))).toBe(55_000);
    expect(
      taken
        .map(({ left }) => left)
        .filter((left) => left > 0)
        .toSorted(),
    ).toEqual([1, 2, 3, 4]);
    expect(await takeCall(orgId, 5, new Date(now.getTime() + 55_000))).toEqual({ left: 4, endMs: 60_000 });
  });

  it('tool calls that the rate limit holds back resume at different moments, even after their first wait', async () => {
    const call = await stored();
    const deps = { clock: () => now } as unknown as CallDeps;
    const server = serverWith({ rate_limit_per_min: 0 });
    const waits = await Promise.all(times(12, () => limit(deps, call, server, {} as ApprovedTool)));
    expect(new Set(waits).size).toBeGreaterThan(1);
    // The minute ends in 55 seconds.
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(55_000);
      expect(wait).toBeLessThan(60_000);
    }
  });

  it('a tool call refused by the limit of its own tool does not count towards the limit that all tools share', async () => {
    const call = await stored();
    const deps = { clock: () => now } as unknown as CallDeps;
    const server = serverWith({ rate_limit_per_min: 3 });
    const ask = (tool: Partial<ApprovedTool>) => limit(deps, call, server, tool as ApprovedTool);
    const limited = await Promise.all(times(6, () => ask({ tool_name: 'cancel_order', rate_limit_per_min: 1 })));
    expect(tally(limited.map((wait) => wait === undefined))).toBe(1);
    const others = await Promise.all(times(4, () => ask({ tool_name: 'list_orders' })));
    expect(tally(others.map((wait) => wait === undefined))).toBe(2);
  });
});

const serverWith = (more: Partial<ToolServer>): ToolServer => ({
  _id: orgId,
  version: 0,
  connection: 7,
  server_label: '',
  endpoint_url: 'https://tools.example.com/mcp',
  auth_type: 'oauth2',
  enabled: true,
  rate_limit_per_min: 60,
  tools: [],
  created_at: now,
  updated_at: now,
  ...more,
});

type Listed = { name: string; description: string; input_schema: ApprovedTool['input_schema'] };
const cancelling: Listed = { name: 'cancel', description: 'Cancels.', input_schema: { type: 'object' } };
const approved = (listed: Listed, more: Partial<ApprovedTool> = {}): ApprovedTool => ({
  source_name: listed.name,
  tool_name: 'cancel_order',
  description: listed.description,
  input_schema: listed.input_schema,
  kind: 'action',
  risk_tier: 'safe_write',
  auth_scope: 'public',
  enabled: true,
  timeout_ms: 1_000,
  allowed_channels: ['chat'],
  pin: pinOf(listed),
  ...more,
});

describe('a tool call for a mail', () => {
  it.each(['customer_confirm', 'step_up'] as const)(
    'a call of tier %s that is made for a mail goes to a person at once, because no mail can ask the customer',
    async (risk_tier) => {
      const tool = approved(cancelling, { risk_tier, allowed_channels: ['email'] });
      await saveToolServer(serverWith({ tools: [tool] }), 0);
      const { awaited: _awaited, ask_until: _until, ...rest } = await stored();
      const call = { ...rest, _id: newId('toolCall'), message_id: randomUUID(), state: 'new', risk_tier } as const;
      await createToolCall({ ...call, pin: tool.pin });
      const log = { info: () => undefined };
      const done = async () => undefined;
      const deps = { clock: () => now, secrets, egressAllow: [], publicUrl: '', audit: done, start: done, log };
      const { advanceCall } = createToolCallActivities(deps as unknown as ToolCallDeps);
      const step = await new MockActivityEnvironment().run(advanceCall, { orgId, callId: call._id });
      expect(step).toMatchObject({ kind: 'ended', outcome: 'handed_off' });
    },
  );
});

describe('the record of a tool server', () => {
  const listed = { name: 'cancel', description: 'Cancels.', input_schema: { $ref: '#/$defs/x', 'a.b': 1 } };
  const tool = approved(listed);
  const server = (): ToolServer => serverWith({ tools: [tool] });

  it('the record of a tool server keeps schemas unchanged, and accepts one of several concurrent changes (optimistic locking)', async () => {
    const saved = await Promise.all(
      times(4, (index) => saveToolServer({ ...server(), server_label: String(index) }, 0)),
    );
    expect(tally(saved)).toBe(1);
    const standing = (await findToolServer(orgId))!;
    expect([standing.version, standing.tools]).toEqual([1, [tool]]);
    const again = await Promise.all(times(4, () => saveToolServer(standing, 1)));
    expect(tally(again)).toBe(1);
  });

  it('the view of a tool server says which secrets are stored, and contains none of them', () => {
    const oauth = { grant_type: 'client_credentials' as const, client_id: 'shop', client_secret: 'sealed-secret' };
    const shown = viewServer({ ...server(), access_token: 'sealed-token', oauth, oauth_state: 'sealed-state' });
    expect(shown).toMatchObject({
      has_access_token: true,
      has_client_secret: true,
      signed_in: true,
      oauth: { grant_type: 'client_credentials', client_id: 'shop' },
    });
    expect(JSON.stringify(shown)).not.toContain('sealed');
    expect(viewServer(server())).toMatchObject({
      has_access_token: false,
      has_client_secret: false,
      signed_in: false,
      oauth: null,
    });
  });

  it('suspendTool suspends a tool once, but not when another definition of the tool has since been approved', async () => {
    await saveToolServer(server(), 0);
    const all = await Promise.all(times(5, () => suspendTool(orgId, 'cancel_order', tool.pin, now)));
    expect(tally(all)).toBe(1);
    expect((await findToolServer(orgId))!.tools[0]!.suspended).toBe(true);
    expect(await suspendTool(orgId, 'cancel_order', 'another-pin', now)).toBe(false);
  });

  it('a change of a tool server does not restore older tokens in its record', async () => {
    await saveToolServer({ ...server(), oauth_state: 'old' }, 0);
    const read = (await findToolServer(orgId))!;
    await keepOAuthState(orgId, 7, 'new');
    expect(await saveToolServer({ ...read, enabled: false }, read.version)).toBe(false);
    expect((await findToolServer(orgId))!.oauth_state).toBe('new');
    // Forgetting an older sign-in does not delete a newer one. A sign-in for connection 6 is not stored, because the
    // current connection is 7.
    expect(await forgetOAuthState(orgId, 7, 'old')).toBe(false);
    await keepOAuthState(orgId, 6, 'foreign');
    expect((await findToolServer(orgId))!.oauth_state).toBe('new');
    expect(await forgetOAuthState(orgId, 7, 'new')).toBe(true);
    expect((await findToolServer(orgId))!.oauth_state).toBeUndefined();
  });
});

describe('a process that dies while it reports a suspension or the end of a sign-in', () => {
  const member = 'usr_1';
  const reported = async () =>
    (await listNotifications(member, [orgId], { limit: 9, before: undefined, unread: undefined })).map(
      ({ kind }) => kind,
    );
  const stored = async (more: Partial<ToolServer>) => {
    await createOrganization(newOrganization(orgId, 'Shop', member, now));
    await saveToolServer(serverWith(more), 0);
    return (await findToolServer(orgId))!;
  };

  it('a tool’s suspension is audited once and reported to members once, even when a process dies meanwhile', async () => {
    const tool = approved(cancelling);
    const server = await stored({ tools: [tool] });
    const { tool_name, pin, risk_tier, auth_scope } = tool;
    const call = { org_id: orgId, mode: 'test', tool_name, pin, risk_tier, auth_scope } as ToolCall;
    const check = (clock: () => Date) => {
      const mcp = { listTools: async () => [{ ...cancelling, description: 'Cancels everything.' }] };
      const audit = auditWriter({ clock: () => now, secrets });
      const deps = { mcp, audit, addressOf: () => ({}), clock } as unknown as CallDeps;
      return checkPin(deps, call, server, tool, new AbortController().signal);
    };
    let reads = 0;
    // The time is read once for the notification and once for the suspension.
    await expect(check(() => ((reads += 1) === 2 ? dying() : now))).rejects.toThrow('The process dies.');
    for (let attempt = 0; attempt < 2; attempt += 1) expect(await check(() => now)).toBe('suspended');
    expect((await findToolServer(orgId))!.tools[0]!.suspended).toBe(true);
    const events = await listAudit(orgId, { modes: ['test'] }, { limit: 9 });
    expect([events.map(({ action }) => action), await reported()]).toEqual([['tool_suspended'], ['tool_suspended']]);
  });

  it('members are notified once that a tool server’s sign-in has ended, even when a process dies meanwhile', async () => {
    const headers = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="orders"' };
    const open = async () => ({ status: 403, headers, body: new Response('').body });
    const connectionsAt = (clock: () => Date) =>
      createConnections({
        secrets,
        http: { open },
        egressAllow: [],
        publicUrl: '',
        clock,
      } as unknown as ConnectionDeps);
    const state = { tokens: { access_token: 't', token_type: 'bearer' } } as OAuthState;
    const server = await stored({ oauth_state: connectionsAt(dying).sealedState(orgId, state) });
    const refuse = async (clock: () => Date) => {
      const { addressOf, fetch } = connectionsAt(clock);
      const reply = await fetch(server.endpoint_url, { method: 'POST', headers: { authorization: 'Bearer t' } });
      await addressOf(server).auth!.onForbidden!(reply);
    };
    await expect(refuse(dying)).rejects.toThrow('The process dies.');
    await refuse(() => now);
    const { oauth_state, scopes_wanted } = (await findToolServer(orgId))!;
    expect([oauth_state, scopes_wanted, await reported()]).toEqual([undefined, ['orders'], ['tool_server_signed_out']]);
  });
});
