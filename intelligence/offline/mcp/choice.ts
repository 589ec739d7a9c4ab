/** Which tool a message is clearly about, of those whose required arguments it gives or that can ask back. Pure. */
import { argumentsFrom, canBeAsked, type Given, type Known } from '../../../models/rules/mcp/arguments.ts';
import { clearlyBest, type Bounds } from './fit.ts';
import { isRead, type ApprovedTool } from '../../../models/rules/mcp/tool.ts';

/** Things that a customer is asked for in a chat; a form with more is for a page. */
const mostAsked = 2;

export type OfferedTool = Pick<ApprovedTool, 'tool_name' | 'description' | 'input_schema' | 'risk_tier'>;
export type Candidate<T> = { tool: T; given: Given; fit: number };

/**
 * `told`: what the customer has said of it; `fits`: how near each tool is to what is wanted, in their order. A tool whose
 * arguments are given comes before one that has to ask back.
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
      // What the customer wrote beside the subject is evidence; what is known anyway, or asked for, is none.
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
