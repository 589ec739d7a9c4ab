/**
 * Decides which tool a message is clearly about, among the tools whose required arguments the message gives or the
 * customer can be asked for. Pure.
 */
import { argumentsFrom, canBeAsked, type Given, type Known } from './arguments.ts';
import { clearlyBest, type Bounds } from './fit.ts';
import { isRead, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

/** The most arguments that a customer is asked for in a chat; more belong in a form. */
const mostAsked = 2;

export type OfferedTool = Pick<ApprovedTool, 'tool_name' | 'description' | 'input_schema' | 'risk_tier'>;
export type Candidate<T> = { tool: T; given: Given; fit: number };

/**
 * `told`: the customer's words about the request. `fits`: how well each tool matches the request, in the order of
 * `offered`. A tool whose required arguments are all given comes before a tool for which the customer must be asked.
 */
export function bestTool<T extends OfferedTool>(
  { told, ...known }: { told: string } & Known,
  offered: readonly T[],
  { fits, bounds }: { fits: readonly number[]; bounds: Bounds },
): Candidate<T> | undefined {
  const candidates = offered
    .map((tool, index): Candidate<T> => {
      const given = argumentsFrom(told, tool.input_schema, known, { reads: isRead(tool) });
      return { tool, given, fit: fits[index]! };
    })
    .filter(({ fit, given: { arguments: found, missing } }) => {
      // An argument that the customer wrote is evidence that the tool is meant. The known e-mail address, and the
      // answer to a question of the agent, are no such evidence.
      const gives =
        missing.length === 0 && Object.values(found).some((value) => value !== known.email && value !== told.trim());
      return fit >= (gives ? bounds.withArguments : bounds.alone);
    });
  const ready = candidates.filter(({ given }) => given.missing.length === 0);
  const askable = ({ tool, given: { missing } }: Candidate<T>) =>
    missing.length <= mostAsked && canBeAsked(missing, tool.input_schema, { reads: isRead(tool) });
  const among = ready.length > 0 ? ready : candidates.filter(askable);
  return clearlyBest(
    among.map((candidate) => ({ item: candidate, fit: candidate.fit })),
    bounds.step,
  );
}
