/** The page that the browser shows after the sign-in for a tool server. */
import { outcomeAt, type OutcomePage } from '../http/outcome.ts';
import { failureReasons } from '../../models/rules/mcp/failure.ts';

const again = 'Connect it again to get a new address.';

export const toolOutcome: OutcomePage = {
  path: '/connections/tools',
  sentences: {
    connected: 'The tool server is connected. You can close this page.',
    access_denied: `The tool server was not connected, because access was denied (access_denied). ${again}`,
    unknown_state: `The tool server was not connected: this sign-in is unknown, was used before, or is over (unknown_state). ${again}`,
    no_code: `The tool server was not connected: its authorization server sent no code (no_code). ${again}`,
    no_longer_allowed:
      'The tool server was not connected: whoever began it is no longer a member, or the key that did is over (no_longer_allowed).',
    changed: `The tool server was disconnected or changed meanwhile (changed). ${again}`,
    unavailable: `The tool server was not connected: it could not be asked right now (unavailable). ${again}`,
    ...failureReasons,
  },
  otherwise: `The tool server was not connected. ${again}`,
};

export const toolOutcomePath = (outcome: string): string => outcomeAt(toolOutcome, outcome);
