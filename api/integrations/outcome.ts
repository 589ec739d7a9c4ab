/** The page that the browser shows after connecting Slack. */
import { outcomeAt, type OutcomePage } from '../http/outcome.ts';

export const slackOutcome: OutcomePage = {
  path: '/connections/slack',
  sentences: {
    connected: 'Slack is connected. You can close this page.',
    access_denied: 'Slack was not connected, because access was denied there (access_denied).',
    unknown_state:
      'Slack was not connected: this request is over, was finished before, or was not begun in this browser. Begin it again (unknown_state).',
    no_code: 'Slack was not connected: it sent no code. Begin it again (no_code).',
    no_longer_admin: 'Slack was not connected: whoever began it is no longer an owner or admin (no_longer_admin).',
    unavailable: 'Slack was not connected: it could not be asked right now. Begin it again (unavailable).',
  },
  otherwise: 'Slack was not connected.',
};

/** The URL of the page. `outcome`: a key of `sentences` above, or Slack's own error code. */
export const outcomePath = (outcome: string): string => outcomeAt(slackOutcome, outcome);
