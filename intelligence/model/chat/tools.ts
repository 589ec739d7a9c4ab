/**
 * Chooses a tool by the configured model's function calling, and has it tell what tools have answered. The model proposes:
 * arguments that nobody has said are left out, and what it tells is held against the results.
 */
import { holdAgainst } from './grounded.ts';
import { borneArguments, type ArgumentGrounds } from './grounds.ts';
import type { Ai, FunctionsAsk } from '../ai.ts';
import type { CallMade, Choice, JobOptions, ToolAsk, Toolbox } from '../../intelligence.ts';
import { findDate } from '../../offline/dates.ts';
import { fitOf, misfit } from '../../offline/mcp/choose.ts';
import { describedAs } from '../../offline/mcp/fit.ts';
import type { Embedding } from '../../../clients/embedding/embedding.ts';
import { plainReply } from '../../../models/rules/language/replytext.ts';
import { canonicalJson } from '../../../models/rules/mcp/canonical.ts';
import type { ApprovedTool } from '../../../models/rules/mcp/tool.ts';

type Choosing = { ai: Pick<Ai, 'model' | 'chooseFunction'>; embedding: Pick<Embedding, 'local'> };

/** Tools that a model is given at once, and their schemas together, in characters; of more, those nearest to the message. */
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
  const results = made.filter(({ outcome }) => outcome === 'ok').map(({ result }) => result?.text ?? '');
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
  if ('text' in reply) return tellResults(ai.model, reply.text, results, told);
  const tool = toolOf(reply.call.name);
  const { arguments: given, missing } = borneArguments(reply.call.arguments, tool, grounds);
  if (missing.length > 0) return { missing };
  // The same call again would give the same again.
  const again = made.some((call) => call.tool_name === tool.tool_name && isSame(call.arguments, given));
  return again ? undefined : { call: { tool, arguments: given } };
}

/** What may still be called: nothing whose server or limit has just refused it. */
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

/** What is wrong with a call whose required arguments are all there; what is missing, the customer is asked for. */
function problemOf(tool: ApprovedTool, wanted: Record<string, unknown>, grounds: ArgumentGrounds): string | undefined {
  const { arguments: given, missing } = borneArguments(wanted, tool, grounds);
  if (missing.length > 0) return undefined;
  const problem = misfit(tool, given);
  return problem === undefined ? undefined : `its arguments do not fit: ${problem}.`;
}

const isSame = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean =>
  canonicalJson(a) === canonicalJson(b);

const resultTold = ({ outcome, result }: CallMade): string =>
  result && result.text !== '' ? result.text : outcome === 'ok' ? 'Done; nothing was returned.' : `Failed: ${outcome}.`;

/** The days that customers name in words, from today on. */
function daysIn(told: readonly string[], now: Date): string[] {
  return told.slice(-3).flatMap((text) => {
    const found = findDate(text, now, 'UTC', 12);
    return found ? [found.at.toISOString().slice(0, 10)] : [];
  });
}

/** What the model makes of the results, without what they do not say; undefined when nothing is left. */
function tellResults(model: string, text: string, results: readonly string[], told: readonly string[]): Choice {
  // Without a result only documents may answer.
  if (results.length === 0 || text === '') return undefined;
  const held = holdAgainst(text, { cited: results, told });
  const body = plainReply(held.text, [...results, ...told]).trim();
  if (body === '') return undefined;
  const { dropped } = held;
  return { told: { body, by: { generated_by: 'model', model, ...(dropped.length > 0 && { dropped }) } } };
}
