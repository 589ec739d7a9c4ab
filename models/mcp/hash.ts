/** Hashes that identify tools, arguments and audit events: SHA-256, hexadecimal. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../rules/mcp/canonical.ts';
import { pinText } from '../rules/mcp/discovery.ts';
import type { ListedTool } from '../rules/mcp/tool.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const pinOf = (tool: ListedTool): string => sha256(pinText(tool));
/** The hash of a call: the tool, its approved pin and the exact arguments. */
export const argumentsHash = (toolName: string, pin: string, given: Readonly<Record<string, unknown>>): string =>
  sha256(canonicalJson({ tool: toolName, pin, arguments: given }));
