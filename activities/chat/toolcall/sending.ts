/**
 * Sends a tool call. A call that changes something is sent at most once: it is claimed before it is sent. If the sender
 * dies after the claim, the outcome is unknown and a person must check. A sender renews its claim while it lives, so
 * that other attempts wait for its outcome.
 */
import { randomUUID } from 'node:crypto';
import type { CallDeps, Run, Sending } from './deps.ts';
import { approvedFor, identityIn, limit, checkPin, fits } from './policy.ts';
import { inquire } from './asking.ts';
import { progressOf, endCall } from './telling.ts';
import { ServerFailure } from '../../../clients/mcp/mcp.ts';
import { findCustomer } from '../../../models/chat/customer.ts';
import { abandonedBy, keepSending, moveCall, readQuestions, resend, type ToolCall } from '../../../models/mcp/call.ts';
import { argumentsHash } from '../../../models/mcp/hash.ts';
import { stillConnected, type ToolServer } from '../../../models/mcp/server.ts';
import { isAgreedTo } from '../../../models/rules/mcp/call.ts';
import { listedOf } from '../../../models/rules/mcp/discovery.ts';
import { repliesTo } from '../../../models/rules/mcp/question.ts';
import { resultOf } from '../../../models/rules/mcp/result.ts';
import { isRead, type Outcome } from '../../../models/rules/mcp/tool.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** How soon a running call notices that its server was disconnected. */
const watchEveryMs = 500;

/**
 * A sender that has not renewed its claim for `lifeMs` counts as dead. A living sender renews its claim every
 * `signEveryMs`.
 */
const lifeMs = 6_000;
const signEveryMs = 1_500;

/**
 * Sends an approved call, or one that needs no approval. Returns how long the rate limit holds the call back, in ms;
 * undefined when it does not.
 */
export async function send(deps: CallDeps, call: ToolCall, sending: Sending): Promise<number | undefined> {
  const { server, tool, signal } = sending;
  const given = JSON.parse(call.arguments) as Record<string, unknown>;
  const asked = call.state === 'agreed';
  // For a tool that needs no approval, the arguments that the agent chose count as approved.
  const agreed = asked ? call.agreed_sha256 : call.arguments_sha256;
  if (!isAgreedTo(agreed, argumentsHash(tool.tool_name, tool.pin, given)))
    return void (await endCall(deps, call, 'drop', 'denied'));
  if (!fits(tool, given)) return void (await endCall(deps, call, 'drop', 'error'));
  const [waited, failure] = await Promise.all([
    limit(deps, call, server, tool),
    checkPin(deps, call, server, tool, signal),
  ]);
  if (waited === 'over') return undefined;
  if (waited !== undefined) return waited;
  if (failure) return void (await endCall(deps, call, 'drop', failure));
  const life = newLife(deps);
  const agreed_sha256 = call.arguments_sha256;
  const claim = moveCall(call, asked ? 'send' : 'send_unasked', { ...life, agreed_sha256 });
  // A call that only reads may be sent twice, so it is sent while it is being claimed.
  if (isRead(call) || (await claim)) await carryOut(deps, call, life.attempt, claim, sending);
  return undefined;
}

const livesUntil = (deps: CallDeps) => new Date(deps.clock().getTime() + lifeMs);

const newLife = (deps: CallDeps) => ({ attempt: randomUUID(), sending_until: livesUntil(deps) });

/**
 * Makes a call and waits at most `patienceMs` for its outcome. After that time the call continues in the background.
 */
async function carryOut(
  deps: CallDeps,
  call: ToolCall,
  attempt: string,
  claim: Promise<ToolCall | null>,
  sending: Sending,
): Promise<void> {
  const making = make(deps, call, attempt, claim, sending).catch(async (error: unknown) => {
    // Setting the end of the claim to the current time ends the claim at once, so the next attempt need not wait.
    await keepSending(call, attempt, deps.clock()).catch(() => undefined);
    throw error;
  });
  if (sending.patienceMs === undefined) return making;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    making.catch((err: unknown) => deps.log.warn({ err, call_id: call._id }, 'a call of a tool was given up'));
    end();
  }, sending.patienceMs);
  return Promise.race([making, over]).finally(() => clearTimeout(timer));
}

/** Makes the call and stores its outcome, unless another attempt holds the claim. */
async function make(
  deps: CallDeps,
  call: ToolCall,
  attempt: string,
  claim: Promise<ToolCall | null>,
  { server, tool, who, signal: stepSignal }: Sending,
): Promise<void> {
  const gone = new AbortController();
  const signal = AbortSignal.any([stepSignal, deps.stopping]);
  const watch = setInterval(() => {
    stillConnected(call.org_id, server.connection).then(
      (connected) => !connected && gone.abort(),
      () => undefined,
    );
  }, watchEveryMs);
  const living = setInterval(() => {
    keepSending(call, attempt, livesUntil(deps)).catch(() => undefined);
  }, signEveryMs);
  const progress = progressOf(deps, call);
  const request = async () => {
    const questions = readQuestions(call);
    return deps.mcp.callTool(deps.addressOf(server), {
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
  try {
    const [claimed, answered] = await Promise.allSettled([claim, request()]);
    if (claimed.status === 'rejected') throw claimed.reason;
    if (!claimed.value) return;
    if (answered.status === 'rejected') throw answered.reason;
    const answer = answered.value;
    if ('requests' in answer) return await inquire(deps, call, attempt, answer);
    const result = resultOf(answer);
    const more = { result: JSON.stringify(result) };
    await endCall(deps, call, 'finish', result.is_error ? 'error' : 'ok', more, { attempt });
  } catch (error) {
    if (!(error instanceof ServerFailure)) throw error;
    deps.log.warn({ org_id: call.org_id, tool: call.tool_name, reason: error.reason }, 'a call of a tool failed');
    // When the worker stops, a call that only reads gets no outcome. The next attempt takes over the claim and sends
    // the call again.
    if (signal.aborted && isRead(call)) throw error;
    // A tool that asks a question has not done anything yet, so the outcome is known.
    const unknown = error.sent && !isRead(call) && error.reason !== 'input_required';
    const outcome = outcomeOfFailure(error, gone.signal.aborted);
    await endCall(deps, call, 'finish', outcome, unknown ? { unknown } : {}, { attempt });
  } finally {
    clearInterval(watch);
    clearInterval(living);
    await progress.end();
  }
}

/**
 * Takes over a call whose sender died. A call that only reads is sent again. Any other call may have had its effect, so
 * it ends with an unknown outcome.
 */
export async function takeOver(deps: CallDeps, call: ToolCall, server: ToolServer | null, run: Run): Promise<void> {
  const now = deps.clock();
  if (!isRead(call)) {
    await endCall(deps, call, 'finish', 'error', { unknown: true }, abandonedBy(call.attempt!, now));
    return;
  }
  const life = newLife(deps);
  const { attempt } = life;
  if (!(await resend(call, life, now))) return;
  const tool = approvedFor(call, server);
  const who = await identityIn(call);
  if (!server || !tool || who === 'revoked') {
    await endCall(deps, call, 'finish', 'suspended', {}, { attempt });
    return;
  }
  await carryOut(deps, call, attempt, Promise.resolve(call), { ...run, server, tool, who });
}

/** The customer's identity for the tool server. It comes from the session, never from text that the customer wrote. */
async function customerMeta(call: ToolCall): Promise<Record<string, unknown> | undefined> {
  const customer = await findCustomer(call.org_id, call.customer_id);
  if (!customer?.verified) return undefined;
  const { _id: id, external_id, email } = customer;
  return {
    'io.svc/customer': {
      id,
      verified: true,
      ...defined({ external_id, email }),
    },
  };
}

function outcomeOfFailure({ reason }: ServerFailure, disconnected: boolean): Outcome {
  if (disconnected) return 'suspended';
  // The tool asks a question that the customer cannot be asked, so a person takes over.
  if (reason === 'input_required') return 'handed_off';
  return reason === 'timeout' ? 'timeout' : 'error';
}
