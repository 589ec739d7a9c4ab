/**
 * Chooses a tool without a model: one whose description matches the message and whose required arguments the message
 * clearly gives.
 */
import { bestTool, type Candidate } from './choice.ts';
import { cosine, describedAs, fitting, wordFit, type Bounds } from './fit.ts';
import type { Choice, ToolAsk, Toolbox } from '../../intelligence.ts';
import type { Embedding } from '../../../clients/embedding/embedding.ts';
import { BadSchema, schemaCheck } from '../../../clients/schema/schema.ts';
import { isRead, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

type Fitting = { embedding: Pick<Embedding, 'local'> };

/** No tool is chosen once a tool has returned a result, because rules cannot tell whether the result was enough. */
export async function chooseByRules(
  deps: Fitting,
  { body, request }: Pick<ToolAsk, 'body' | 'request'>,
  toolbox: Toolbox,
): Promise<Choice> {
  if (toolbox.made.length > 0) return undefined;
  const [wanted] = request;
  if (wanted !== undefined) {
    // The message answers the agent's question, completely or in part.
    const before = await bestOf(deps, wanted, { told: request.join('\n') }, toolbox);
    const answer = before?.given.missing.length === 1 && isShown(before.tool) ? body : undefined;
    const now = await bestOf(deps, wanted, { told: [...request, body].join('\n'), answer }, toolbox);
    if (now && (now.given.missing.length === 0 || now.given.missing.length < (before?.given.missing.length ?? 0)))
      return settled(now);
  }
  const best = await bestOf(deps, body, { told: body }, toolbox);
  return best && settled(best);
}

/**
 * Whether the whole message may be taken as an argument: the tool only reads, or the customer confirms the call, so a
 * misunderstanding does no harm.
 */
const isShown = (tool: ApprovedTool): boolean => isRead(tool) || tool.risk_tier === 'customer_confirm';

function settled({ tool, given }: Candidate<ApprovedTool>): Choice {
  if (given.missing.length > 0) return { missing: given.missing };
  return misfit(tool, given.arguments) === undefined ? { call: { tool, arguments: given.arguments } } : undefined;
}

/** The tool that a message is clearly about, with the arguments from `told`. */
async function bestOf(
  { embedding }: Fitting,
  message: string,
  said: { told: string; answer?: string | undefined },
  { offered, email }: Toolbox,
): Promise<Candidate<ApprovedTool> | undefined> {
  return bestTool({ ...said, email }, offered, await fitOf(embedding, message, offered.map(describedAs)));
}

/** How well each description matches the message: by embeddings if they are available in time, else lexically. */
export async function fitOf(
  embedding: Fitting['embedding'],
  message: string,
  descriptions: readonly string[],
): Promise<{ fits: number[]; bounds: Bounds }> {
  try {
    if (embedding.local) {
      const [asked, ...told] = await embedding.local.sentences([message, ...descriptions]);
      return { fits: told.map((vector) => cosine(asked!, vector)), bounds: fitting.meaning };
    }
  } catch {
    // When the embeddings are late or fail, the match is lexical.
  }
  return { fits: descriptions.map((text) => wordFit(message, text)), bounds: fitting.words };
}

/** Why the arguments do not match the tool's schema; undefined when they do. */
export function misfit({ input_schema }: ApprovedTool, given: Record<string, unknown>): string | undefined {
  try {
    const fit = schemaCheck(input_schema)(given);
    return fit.fits ? undefined : fit.problem;
  } catch (error) {
    if (error instanceof BadSchema) return error.message;
    throw error;
  }
}
