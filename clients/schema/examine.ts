/** Notes for members about problems in a tool's schemas, shown before and after the tool is approved. */
import { BadSchema, readSchema } from './schema.ts';
import type { Findings, JsonSchema, ListedTool } from '../../models/rules/mcp/tool.ts';

/** Maximum number of notes for one tool. A member who sees this many notes has to look at the whole schema anyway. */
const maxNotes = 20;

export function examine({ input_schema, output_schema }: Pick<ListedTool, 'input_schema' | 'output_schema'>): Findings {
  const input = found('input_schema', input_schema);
  const output = output_schema === undefined ? { notes: [] } : found('output_schema', output_schema);
  // An unusable input schema makes the tool unusable, because input that cannot be validated is not sent. An unusable
  // output schema is only a note, because output is always treated as plain data.
  const notes = [
    ...input.notes,
    ...output.notes,
    ...(output.problem === undefined ? [] : [`${output.problem}; what the tool answers is not checked.`]),
  ].slice(0, maxNotes);
  return {
    ...(input.problem === undefined ? {} : { problem: `${input.problem}; the tool is not called.` }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function found(field: string, schema: JsonSchema): { problem?: string; notes: string[] } {
  try {
    const { unenforced } = readSchema(schema);
    return {
      notes: unenforced.map(
        (path) => `${field}.${path} is not enforced, because its expression is not one of JavaScript's.`,
      ),
    };
  } catch (error) {
    if (!(error instanceof BadSchema)) throw error;
    return { problem: `${field} ${error.message}`, notes: [] };
  }
}
