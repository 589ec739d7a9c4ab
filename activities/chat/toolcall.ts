/**
 * Brings a call of a tool one step further: policy, asking whoever has to agree, the call itself, and what is told of its
 * end. Every step may run again at any point. What changes something is sent at most once: it is claimed before it is sent,
 * and a claim whose sender has died is an unknown outcome, which a person looks into. Senders give signs of life, so that
 * whoever comes to a claim while its sender lives waits for what becomes of it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { StartSaved } from './tooluse.ts';
import { withHeartbeat } from '../base/heartbeat.ts';
import { createConnections, type ConnectionDeps } from '../mcp/connection.ts';
import { BadSchema, schemaCheck } from '../../clients/schema/schema.ts';
import { ServerFailure, type Mcp } from '../../clients/mcp/mcp.ts';
import { notifyMembers } from '../../models/access/notification.ts';
import { findSession } from '../../models/access/session.ts';
import { collectionOf } from '../../models/base/define.ts';
import { intentFor } from '../../models/base/pending.ts';
import { findCustomer } from '../../models/chat/customer.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import { MessageModel } from '../../models/chat/message.ts';
import type { AuditWriter } from '../../models/mcp/audit.ts';
import {
  abandonedBy,
  countHeldBack,
  findToolCall,
  isBeingSent,
  keepSending,
  moveCall,
  questionIdOf,
  readQuestions,
  resend,
  ToolCallModel,
  type ToolCall,
} from '../../models/mcp/call.ts';
import { argumentsHash, pinOf } from '../../models/mcp/hash.ts';
import { takeCall } from '../../models/mcp/limit.ts';
import { findToolServer, stillConnected, suspendTool, type ToolServer } from '../../models/mcp/server.ts';
import { attendingWork, noticeWork } from '../../models/rules/chat/work.ts';
import { languageOf } from '../../models/rules/language/language.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import { agreementText, awaitedBy, isAgreedTo, waitMs, type Awaited } from '../../models/rules/mcp/call.ts';
import { listedOf } from '../../models/rules/mcp/discovery.ts';
import { identityOf, outcomeOf, verdictOn, type Identity } from '../../models/rules/mcp/policy.ts';
import { maxRounds, openQuestion, questionsOf, repliesTo, type AskedBack } from '../../models/rules/mcp/question.ts';
import { progressText, resultOf, type Progress, type ToolResult } from '../../models/rules/mcp/result.ts';
import {
  isRead,
  isUsable,
  servesMode,
  titleOf,
  type ApprovedTool,
  type Outcome,
  type RiskTier,
} from '../../models/rules/mcp/tool.ts';

export type ToolCallDeps = ConnectionDeps & {
  mcp: Mcp;
  audit: AuditWriter;
  start: StartSaved;
  /** Aborted when this process stops, and calls that it still makes are given up. */
  stopping: AbortSignal;
  log: Logger;
};
/** `patienceMs`: for how long a call is waited for; without it, until its end. */
type Run = { signal: AbortSignal; patienceMs?: number | undefined };
type Sending = Run & { server: ToolServer; tool: ApprovedTool; who: Identity };
type Ref = { orgId: string; callId: string };

/** What operators see of a call. */
type About = { orgId: string; tool: string; tier: RiskTier };
/**
 * `withinMs`: when to look again though nothing was decided. `held_back`: the limit of calls is reached. `calling`: the tool
 * has not answered yet; who made the call goes on, and another step waits for what becomes of it.
 */
export type CallStep = { about: About } & (
  | { kind: 'ended'; outcome: Outcome | 'gone' }
  | { kind: 'waiting'; awaited: Awaited; withinMs: number }
  | { kind: 'held_back'; withinMs: number }
  | { kind: 'calling' }
);
export type ToolCallActivities = ReturnType<typeof createToolCallActivities>;

/** A call waits for the limit this often, each time until the next minute, before it is given up. */
const maxHeldBack = 3;
/** A customer is told how far a tool is this often at most, and so many times. */
const progressEveryMs = 2_000;
const maxProgress = 20;
/** How soon a running call learns that its server was disconnected. */
const watchEveryMs = 500;
/** A sender that has given no sign of life for so long has died; it gives one this often. */
const lifeMs = 6_000;
const signEveryMs = 1_500;
/** How often a step looks what became of a call that another one makes. */
const lookEveryMs = 250;
/** How long a workflow task waits for a tool. Most have answered by then. */
const taskPatienceMs = 2_000;

export function createToolCallActivities(deps: ToolCallDeps) {
  const { mcp, audit, start, clock, log, stopping } = deps;
  const connections = createConnections(deps);

  async function advance({ orgId, callId }: Ref, run: Run): Promise<CallStep> {
    for (;;) {
      run.signal.throwIfAborted();
      const [call, server] = await Promise.all([findToolCall(orgId, callId), findToolServer(orgId)]);
      // The customer, or the test conversation, was removed.
      if (!call) return { kind: 'ended', outcome: 'gone', about: { orgId, tool: '', tier: 'human_only' } };
      const about = { orgId, tool: call.tool_name, tier: call.risk_tier };
      if (call.state === 'ended') {
        await conclude(call);
        return { kind: 'ended', outcome: call.outcome!, about };
      }
      if (call.state === 'new' || call.state === 'agreed') {
        const heldMs = await goOn(call, server, run);
        if (heldMs !== undefined) return { kind: 'held_back', withinMs: heldMs, about };
      } else if (call.state === 'waiting') {
        const withinMs = call.ask_until!.getTime() - clock().getTime();
        const tool = approvedFor(call, server);
        if (withinMs > 0 && tool) {
          await ask(call, tool);
          return { kind: 'waiting', awaited: call.awaited!, withinMs, about };
        }
        if (withinMs > 0) await end(call, 'drop', 'suspended');
        else await end(call, 'expire', 'expired');
      } else if (isBeingSent(call, clock())) {
        if (run.patienceMs !== undefined) return { kind: 'calling', about };
        await sleep(lookEveryMs, undefined, { signal: run.signal });
      } else await takeOver(call, server, run);
    }
  }

  const end = (call: ToolCall, move: 'drop' | 'expire', outcome: Outcome) =>
    moveCall(call.org_id, call._id, move, { outcome, ended_at: clock() });

  /** The approved tool that a call means, as long as it is the one that was chosen. */
  function approvedFor(call: ToolCall, server: ToolServer | null): ApprovedTool | undefined {
    const tool =
      server && servesMode(server, call.mode)
        ? server.tools.find(({ tool_name }) => tool_name === call.tool_name)
        : undefined;
    if (!tool || !isUsable(tool) || tool.pin !== call.pin) return undefined;
    return tool.risk_tier === call.risk_tier && tool.auth_scope === call.auth_scope ? tool : undefined;
  }
  async function identity(call: ToolCall): Promise<Identity | 'revoked'> {
    if (call.session_id === undefined) return 'anonymous';
    const session = await findSession(call.org_id, call.session_id);
    if (!session || session.revoked_at) return 'revoked';
    return session.customer_id === call.customer_id ? identityOf(session) : 'anonymous';
  }

  /**
   * Has whoever must agree asked about a new call; sends one that was agreed to, or that nobody is asked about. Returns how
   * long the limit of calls holds it back, in ms.
   */
  async function goOn(call: ToolCall, server: ToolServer | null, run: Run): Promise<number | undefined> {
    const tool = approvedFor(call, server);
    if (!server || !tool) return void (await end(call, 'drop', 'suspended'));
    const who = await identity(call);
    if (who === 'revoked') return void (await end(call, 'drop', 'denied'));
    if (call.state === 'agreed' && call.questions !== undefined) await recordReplies(call);
    if (call.state === 'agreed') return send(call, { ...run, server, tool, who });
    const verdict = verdictOn(call, who);
    if (verdict === 'deny' || verdict === 'hand_off') return void (await end(call, 'drop', outcomeOf[verdict]));
    const awaited = awaitedBy[verdict];
    if (awaited === undefined) return send(call, { ...run, server, tool, who });
    const ask_until = new Date(clock().getTime() + waitMs[awaited]);
    // Members are told by a workflow of their own, which goes on wherever this process dies.
    const intents = awaited === 'member' ? [intentFor(noticeWork(call.org_id, { callId: call._id }), clock())] : [];
    if (await moveCall(call.org_id, call._id, 'ask', { awaited, ask_until }, { intents }))
      await start(ToolCallModel, call, intents);
    return undefined;
  }

  const writerFor = (call: ToolCall) =>
    conversationWriter({ _id: call.conv_id, org_id: call.org_id, mode: call.mode }, clock);

  /** Tells whoever has to agree. Told again, it is told once. */
  async function ask(call: ToolCall, { description }: ApprovedTool): Promise<void> {
    const { _id: pending_id, tool_name, awaited } = call;
    if (awaited === 'input') return askBack(call);
    const given = JSON.parse(call.arguments) as Record<string, unknown>;
    const body = agreementText(description, given);
    const what = { pending_id, tool_name, title: titleOf(tool_name), body, arguments: given };
    await record(call, 'approval', `asked_${awaited}`);
    if (awaited === 'customer') {
      await writerFor(call).append({ type: 'confirm', key: `confirm:${pending_id}`, body: what });
    } else if (awaited === 'step_up') {
      await writerFor(call).append({
        type: 'step_up',
        key: `step_up:${pending_id}`,
        body: { ...what, expires_at: call.ask_until!.toISOString() },
      });
    } else {
      await tellWaiting(call);
    }
  }

  /** Puts the tool's question to the customer, who alone answers it. */
  async function askBack(call: ToolCall): Promise<void> {
    const { _id: pending_id, tool_name, rounds, ask_until } = call;
    const open = openQuestion(readQuestions(call)!);
    if (!open) return;
    const question_id = questionIdOf(call, open.number);
    await record(call, 'approval', 'asked_input', String(rounds));
    await writerFor(call).append({
      type: 'input',
      key: `input:${pending_id}:${question_id}`,
      body: {
        pending_id,
        question_id,
        tool_name,
        title: titleOf(tool_name),
        ...open.asked.question,
        expires_at: ask_until!.toISOString(),
      },
    });
  }

  /** What the customer did with the questions of a round; never what they answered. */
  async function recordReplies(call: ToolCall): Promise<void> {
    const actions = readQuestions(call)!.asked.map(({ reply }) => reply?.action);
    const given = actions.every((action) => action === 'accept') ? 'answered_input' : 'refused_input';
    await record({ ...call, decided_by: call.customer_id }, 'approval', given, String(call.rounds));
  }

  /** Shown in place of the answer until it is there. */
  async function tellWaiting(call: ToolCall): Promise<void> {
    const message = await collectionOf(MessageModel).findOne({ _id: call.message_id, org_id: call.org_id });
    if (!message) return;
    await writerFor(call).append({
      type: 'notice',
      key: `asked:${call._id}`,
      body: { message_id: message.reply_id, body: ownSentences.memberAsked[languageOf(message.body) ?? 'en'] },
      transient: true,
    });
  }

  /** Sends what was agreed to, or what needs no agreement. Returns how long the limit of calls holds it back, in ms. */
  async function send(call: ToolCall, sending: Sending): Promise<number | undefined> {
    const { server, tool, signal } = sending;
    const given = JSON.parse(call.arguments) as Record<string, unknown>;
    const asked = call.state === 'agreed';
    // The agent's wish stands for an agreement where the tier asks nobody.
    const agreed = asked ? call.agreed_sha256 : call.arguments_sha256;
    if (!isAgreedTo(agreed, argumentsHash(tool.tool_name, tool.pin, given)))
      return void (await end(call, 'drop', 'denied'));
    if (!fits(tool, given)) return void (await end(call, 'drop', 'error'));
    const [waited, failure] = await Promise.all([limit(call, server, tool), checkPin(call, server, tool, signal)]);
    if (waited === 'over') return undefined;
    if (waited !== undefined) return waited;
    if (failure) return void (await end(call, 'drop', failure));
    const life = newLife();
    const agreed_sha256 = call.arguments_sha256;
    const claim = moveCall(call.org_id, call._id, asked ? 'send' : 'send_unasked', { ...life, agreed_sha256 });
    // What only reads may be sent twice, so it is sent while it is claimed.
    if (isRead(call) || (await claim)) await carryOut(call, life.attempt, claim, sending);
    return undefined;
  }

  const livesUntil = () => new Date(clock().getTime() + lifeMs);
  const newLife = () => ({ attempt: randomUUID(), sending_until: livesUntil() });

  /** Makes a call, and waits for it as long as `patienceMs` says; then it goes on by itself. */
  async function carryOut(
    call: ToolCall,
    attempt: string,
    claim: Promise<ToolCall | null>,
    sending: Sending,
  ): Promise<void> {
    const making = make(call, attempt, claim, sending).catch(async (error: unknown) => {
      // Whoever comes next need not wait for this one.
      await keepSending(call, attempt, clock()).catch(() => undefined);
      throw error;
    });
    if (sending.patienceMs === undefined) return making;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      making.catch((err: unknown) => log.warn({ err, call_id: call._id }, 'a call of a tool was given up'));
      end();
    }, sending.patienceMs);
    return Promise.race([making, over]).finally(() => clearTimeout(timer));
  }

  /** How long the limits of the server and of the tool hold a call back; one that they held back too often ends. */
  async function limit(call: ToolCall, server: ToolServer, tool: ApprovedTool): Promise<number | 'over' | undefined> {
    const now = clock();
    const limits: [string, number][] = [[call.org_id, server.rate_limit_per_min]];
    if (tool.rate_limit_per_min !== undefined)
      limits.push([`${call.org_id}:${tool.tool_name}`, tool.rate_limit_per_min]);
    for (const [name, most] of limits) {
      const { waitMs: wait } = await takeCall(name, most, now);
      if (wait === undefined) continue;
      if (call.held_back >= maxHeldBack) {
        await end(call, 'drop', 'rate_limited');
        return 'over';
      }
      await countHeldBack(call.org_id, call._id);
      // Calls that waited for the same minute do not all come at its first moment.
      return wait + Math.floor(Math.random() * 5_000) * call.held_back;
    }
    return undefined;
  }

  /** Holds what was approved against what the server has now. Undefined: it is the same. */
  async function checkPin(
    call: ToolCall,
    server: ToolServer,
    tool: ApprovedTool,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    let listed;
    try {
      listed = await mcp.listTools(connections.addressOf(server), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServerFailure)) throw error;
      log.warn({ org_id: call.org_id, tool: call.tool_name, reason: error.reason }, 'a tool server was not reached');
      return error.reason === 'timeout' ? 'timeout' : 'error';
    }
    const live = listed.find(({ name }) => name === tool.source_name);
    if (live && pinOf(live) === tool.pin) return undefined;
    const { org_id: orgId, mode } = call;
    if (await suspendTool(orgId, tool.tool_name, tool.pin, clock())) {
      const { tool_name, risk_tier, auth_scope } = tool;
      await audit({
        org_id: orgId,
        mode,
        kind: 'config',
        actor: 'agent',
        action: 'tool_suspended',
        tool: tool_name,
        risk_tier,
        auth_scope,
      });
      const body = `${titleOf(tool_name)} is not what was approved any more. Look at what changed, and approve it again.`;
      const kind = 'tool_suspended';
      await notifyMembers(
        orgId,
        { key: `${kind}:${tool.pin}:${server.version}`, kind, title: 'A tool was suspended', body, about: [] },
        clock(),
      );
    }
    return 'suspended';
  }

  /** Makes the call and stores what became of it, unless another attempt has it. */
  async function make(
    call: ToolCall,
    attempt: string,
    claim: Promise<ToolCall | null>,
    { server, tool, who, signal: stepSignal }: Sending,
  ): Promise<void> {
    const gone = new AbortController();
    const signal = AbortSignal.any([stepSignal, stopping]);
    const watch = setInterval(() => {
      stillConnected(call.org_id, server.connection).then(
        (connected) => !connected && gone.abort(),
        () => undefined,
      );
    }, watchEveryMs);
    const living = setInterval(() => {
      keepSending(call, attempt, livesUntil()).catch(() => undefined);
    }, signEveryMs);
    const progress = progressOf(call);
    const ask = async () => {
      const questions = readQuestions(call);
      return mcp.callTool(connections.addressOf(server), {
        name: tool.source_name,
        arguments: JSON.parse(call.arguments) as Record<string, unknown>,
        definition: listedOf(tool),
        meta: who === 'verified' ? await customerMeta(call) : undefined,
        timeoutMs: tool.timeout_ms,
        answers: questions && repliesTo(questions),
        progress: (said) => progress.say(said),
        signal: AbortSignal.any([signal, gone.signal]),
      });
    };
    const finish = async (outcome: Outcome, result?: ToolResult, unknown = false) =>
      moveCall(
        call.org_id,
        call._id,
        'finish',
        {
          outcome,
          ended_at: clock(),
          ...(result ? { result: JSON.stringify(result) } : {}),
          ...(unknown ? { unknown } : {}),
        },
        { only: { attempt } },
      );
    try {
      const [claimed, answered] = await Promise.allSettled([claim, ask()]);
      if (claimed.status === 'rejected') throw claimed.reason;
      if (!claimed.value) return;
      if (answered.status === 'rejected') throw answered.reason;
      const answer = answered.value;
      if ('requests' in answer) return await inquire(call, attempt, answer);
      const result = resultOf(answer);
      await finish(result.is_error ? 'error' : 'ok', result);
    } catch (error) {
      if (!(error instanceof ServerFailure)) throw error;
      log.warn({ org_id: call.org_id, tool: call.tool_name, reason: error.reason }, 'a call of a tool failed');
      // The worker stops: the next attempt finds the claim.
      if (signal.aborted && isRead(call)) throw error;
      // A tool that asks back has said that it is not done.
      const unknown = error.sent && !isRead(call) && error.reason !== 'input_required';
      await finish(outcomeOfFailure(error, gone.signal.aborted), undefined, unknown);
    } finally {
      clearInterval(watch);
      clearInterval(living);
      await progress.end();
    }
  }

  /** Shows how far a tool is, now and then; what is said after its end is not shown. */
  function progressOf(call: ToolCall) {
    let writing: Promise<unknown> = Promise.resolve();
    let shown = 0;
    let nextAt = clock().getTime() + progressEveryMs;
    const show = async (body: string): Promise<void> => {
      const message = await collectionOf(MessageModel).findOne({ _id: call.message_id, org_id: call.org_id });
      if (!message?.reply_id) return;
      await writerFor(call).append({
        type: 'notice',
        body: { message_id: message.reply_id, body },
        transient: true,
      });
    };
    return {
      say(said: Progress): void {
        const now = clock().getTime();
        const body = progressText(titleOf(call.tool_name), said);
        if (now < nextAt || shown === maxProgress || body === undefined) return;
        [shown, nextAt] = [shown + 1, now + progressEveryMs];
        writing = writing
          .then(() => show(body))
          .catch((error: unknown) => log.warn({ err: error }, 'progress not shown'));
      },
      async end(): Promise<void> {
        shown = maxProgress;
        await writing;
      },
    };
  }

  /** The tool asks back: it has done nothing, so the call waits for the customer, or for a person where nobody can be asked. */
  async function inquire(
    call: ToolCall,
    attempt: string,
    { requests, state }: { requests: Record<string, unknown>; state?: string },
  ): Promise<void> {
    const { org_id, _id, rounds = 0 } = call;
    const questions = questionsOf(requests, state);
    // Mails are answered much later, and by another way.
    const askable =
      questions && rounds < maxRounds && call.session_id !== undefined && questions.asked.every(isAnswerable);
    if (askable)
      await moveCall(
        org_id,
        _id,
        'inquire',
        {
          awaited: 'input',
          ask_until: new Date(clock().getTime() + waitMs.input),
          questions: JSON.stringify(questions),
          rounds: rounds + 1,
        },
        { only: { attempt } },
      );
    else await moveCall(org_id, _id, 'finish', { outcome: 'handed_off', ended_at: clock() }, { only: { attempt } });
  }

  /** A claim without its sender: a read is sent again, everything else may have had its effect. */
  async function takeOver(call: ToolCall, server: ToolServer | null, run: Run): Promise<void> {
    const now = clock();
    if (!isRead(call)) {
      const only = abandonedBy(call.attempt!, now);
      await moveCall(call.org_id, call._id, 'finish', { outcome: 'error', unknown: true, ended_at: now }, { only });
      return;
    }
    const life = newLife();
    const { attempt } = life;
    if (!(await resend(call, life, now))) return;
    const tool = approvedFor(call, server);
    const who = await identity(call);
    if (!server || !tool || who === 'revoked') {
      await moveCall(
        call.org_id,
        call._id,
        'finish',
        { outcome: 'suspended', ended_at: clock() },
        { only: { attempt } },
      );
      return;
    }
    await carryOut(call, attempt, Promise.resolve(call), { ...run, server, tool, who });
  }

  /** Who the customer is, for the tool server: it comes from the session, never from anything that was written. */
  async function customerMeta(call: ToolCall): Promise<Record<string, unknown> | undefined> {
    const customer = await findCustomer(call.org_id, call.customer_id);
    if (!customer?.verified) return undefined;
    const { _id: id, external_id, email } = customer;
    return {
      'io.svc/customer': {
        id,
        verified: true,
        ...(external_id === undefined ? {} : { external_id }),
        ...(email === undefined ? {} : { email }),
      },
    };
  }

  const record = (call: ToolCall, kind: 'approval' | 'invocation', action: string, nth = '') => {
    const { _id, org_id, mode, conv_id, tool_name, risk_tier, auth_scope, arguments_sha256, outcome, ended_at } = call;
    const ended = kind === 'invocation' && ended_at;
    return audit({
      _id: `aud_${_id}_${action}${nth}`,
      org_id,
      mode,
      kind,
      actor: kind === 'approval' ? (call.decided_by ?? 'agent') : 'agent',
      action,
      tool: tool_name,
      conversation_id: conv_id,
      auth_scope,
      risk_tier,
      arguments_sha256,
      ...(ended ? { duration_ms: ended_at.getTime() - call.created_at.getTime() } : {}),
      ...(ended && outcome ? { outcome } : {}),
    });
  };

  /** Tells everybody how a call ended, and has the turn go on. Told again, it is told once. */
  async function conclude(call: ToolCall): Promise<void> {
    const { _id: callId, org_id: orgId, conv_id: convId, awaited, tool_name, outcome } = call;
    if (awaited && call.decided_by !== undefined)
      await record(call, 'approval', call.agreed_sha256 === undefined ? 'refused' : 'approved');
    else if (awaited && outcome === 'expired') await record(call, 'approval', 'expired');
    await record(call, 'invocation', call.unknown ? 'outcome_unknown' : 'call');
    if (awaited || call.attempt !== undefined) {
      const body = { pending_id: callId, tool_name, ok: outcome === 'ok', label: titleOf(tool_name) };
      await writerFor(call).append({ type: 'action_result', key: `action:${callId}`, body });
    }
    const intent = intentFor(attendingWork(orgId, convId), clock());
    await collectionOf(ToolCallModel).updateOne({ _id: callId, org_id: orgId }, { $push: { pending: intent } });
    await start(ToolCallModel, call, [intent]);
    log.info({ org_id: orgId, call_id: callId, tool: tool_name, outcome }, 'a tool call ended');
  }

  return {
    /** Brings a call as far as it goes without waiting for anybody. */
    advanceCall: (ref: Ref): Promise<CallStep> => {
      const patienceMs = Context.current().info.isLocal ? taskPatienceMs : undefined;
      return withHeartbeat((signal) => advance(ref, { signal, patienceMs }));
    },
  };
}

function fits(tool: ApprovedTool, given: Record<string, unknown>): boolean {
  try {
    return schemaCheck(tool.input_schema)(given).fits;
  } catch (error) {
    if (error instanceof BadSchema) return false;
    throw error;
  }
}

/** Whether answers can be held against the schema of a question. */
function isAnswerable({ schema }: AskedBack): boolean {
  try {
    schemaCheck(schema);
    return true;
  } catch (error) {
    if (error instanceof BadSchema) return false;
    throw error;
  }
}

function outcomeOfFailure({ reason }: ServerFailure, disconnected: boolean): Outcome {
  if (disconnected) return 'suspended';
  // What a tool asks back may be answered by the customer only, and is not asked here: a person takes over.
  if (reason === 'input_required') return 'handed_off';
  return reason === 'timeout' ? 'timeout' : 'error';
}
