/**
 * Chooses a tool by the configured model's function calling, and has the model answer from results of tools. Arguments
 * that the customer did not give are dropped, and sentences that the results do not support are removed.
 */
import { holdAgainst } from './grounded.ts';
import { borneArguments, type ArgumentGrounds } from './grounds.ts';
import type { Ai, FunctionsAsk } from '../ai.ts';
import type { CallMade, Choice, JobOptions, ToolAsk, Toolbox } from '../../intelligence.ts';
import { findDate } from '../../offline/dates.ts';
import { fitOf, misfit } from '../../offline/mcp/choose.ts';
import { describedAs } from '../../offline/mcp/fit.ts';
import type { Embedding } from '../../../clients/embedding/embedding.ts';
import { plainReply } from '../../replytext.ts';
import { canonicalJson } from '../../../models/rules/mcp/canonical.ts';
import { isRead, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

type Choosing = { ai: Pick<Ai, 'model' | 'chooseFunction'>; embedding: Pick<Embedding, 'local'> };

/**
 * The most tools that a model is offered, and the total length of their schemas in characters. If there are more, the
 * tools that match the message best are offered.
 */
const maxOffered = 24;
const maxSchemas = 60_000;

/** @throws Problem MODEL_FAILED. */
export async function chooseByModel(
  { ai, embedding }: Choosing,
  { toolbox, now, ...asked }: ToolAsk,
  { signal }: JobOptions = {},
): Promise<Choice> {
  const { made, email } = toolbox;
  const offered = await nearest(embedding, asked.body, stillOffered(toolbox));
  const told = [...asked.history.filter(({ role }) => role === 'customer').map(({ body }) => body), asked.body];
  const results = resultsOf(made);
  const grounds: ArgumentGrounds = { told, results, email, days: daysIn(told, now) };
  const toolOf = (name: string): ApprovedTool => offered.find(({ tool_name }) => tool_name === name)!;
  const ask: FunctionsAsk = {
    question: asked.body,
    history: asked.history,
    tools: offered.map(({ tool_name, description, input_schema }) => ({
      name: tool_name,
      description: description.slice(0, 1_024),
      parameters: input_schema,
    })),
    made: made.map((call) => ({ name: call.tool_name, arguments: call.arguments, result: resultTold(call) })),
    email,
    today: now,
    problemOf: (call) => problemOf(toolOf(call.name), call.arguments, grounds),
  };
  if (ask.tools.length === 0 && results.length === 0) return undefined;
  const reply = await ai.chooseFunction(ask, { signal });
  if ('text' in reply) return tellResults(ai.model, reply.text, made, told);
  const tool = toolOf(reply.call.name);
  const { arguments: given, missing } = borneArguments(reply.call.arguments, tool, grounds);
  if (missing.length > 0) return { missing };
  // A call that was made for this message is not made again, because it would give the same result.
  const again = made.some((call) => call.tool_name === tool.tool_name && isSame(call.arguments, given));
  return again ? undefined : { call: { tool, arguments: given } };
}

/**
 * The tools that may still be called: not those that were suspended or rate limited when they were called for this
 * message.
 */
const stillOffered = ({ offered, made }: Toolbox): ApprovedTool[] =>
  offered.filter(
    ({ tool_name }) =>
      !made.some((call) => call.tool_name === tool_name && ['suspended', 'rate_limited'].includes(call.outcome)),
  );

async function nearest(
  embedding: Choosing['embedding'],
  message: string,
  offered: ApprovedTool[],
): Promise<ApprovedTool[]> {
  const size = ({ input_schema }: ApprovedTool): number => JSON.stringify(input_schema).length;
  if (offered.length <= maxOffered && offered.reduce((sum, tool) => sum + size(tool), 0) <= maxSchemas) return offered;
  const { fits } = await fitOf(embedding, message, offered.map(describedAs));
  let left = maxSchemas;
  return offered
    .map((tool, index) => ({ tool, fit: fits[index]! }))
    .toSorted((a, b) => b.fit - a.fit)
    .slice(0, maxOffered)
    .flatMap(({ tool }) => ((left -= size(tool)) >= 0 ? [tool] : []));
}

/**
 * Why the arguments of a call are invalid. Undefined when they are valid, or when required ones are missing, because
 * the customer is asked for those.
 */
function problemOf(tool: ApprovedTool, wanted: Record<string, unknown>, grounds: ArgumentGrounds): string | undefined {
  const { arguments: given, missing } = borneArguments(wanted, tool, grounds);
  if (missing.length > 0) return undefined;
  const problem = misfit(tool, given);
  return problem === undefined ? undefined : `its arguments do not fit: ${problem}.`;
}

const isSame = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean =>
  canonicalJson(a) === canonicalJson(b);

const isDone = ({ outcome }: CallMade): boolean => outcome === 'ok';
const resultsOf = (made: readonly CallMade[]): string[] => made.filter(isDone).map(({ result }) => result?.text ?? '');

const resultTold = ({ outcome, result }: CallMade): string =>
  result && result.text !== '' ? result.text : outcome === 'ok' ? 'Done; nothing was returned.' : `Failed: ${outcome}.`;

/** The days from today on that the customer's last messages name in words. */
function daysIn(told: readonly string[], now: Date): string[] {
  return told.slice(-3).flatMap((text) => {
    const found = findDate(text, now, 'UTC', 12);
    return found ? [found.at.toISOString().slice(0, 10)] : [];
  });
}

/**
 * The model's answer from results of tools, without sentences that the results do not support; undefined when no
 * sentence is left.
 */
function tellResults(model: string, text: string, made: readonly CallMade[], told: readonly string[]): Choice {
  const results = resultsOf(made);
  // Without a tool's result, the model's text rests on no source, so it is not used.
  if (results.length === 0 || text === '') return undefined;
  // The arguments of a change count as a result too, because a result such as "Done." does not repeat what was changed.
  const changes = made.filter((call) => isDone(call) && !isRead(call));
  const changed = changes.map((call) => JSON.stringify(Object.values(call.arguments)));
  const held = holdAgainst(text, { cited: [...results, ...changed], told });
  const body = plainReply(held.text, [...results, ...told]).trim();
  if (body === '') return undefined;
  const { dropped } = held;
  return { told: { body, by: { generated_by: 'model', model, ...(dropped.length > 0 && { dropped }) } } };
}
