import { expect, it } from '@jest/globals';
import { checkRoom, missing, settingsChanged } from '../../../models/rules/knowledge/livecopy.ts';
import { defaultSettings } from '../../../models/rules/integrations/supportconfig.ts';

const quotas = {
  sandbox: { documents: 1, knowledge_pages: 1 },
  production: { documents: 3, knowledge_pages: 2 },
};
const none = { live: 0, missing: 0 };

it('settingsChanged counts the settings that differ from their defaults', () => {
  expect(settingsChanged(defaultSettings)).toBe(0);
  expect(settingsChanged({ ...defaultSettings, allowed_origins: ['https://shop.example'] })).toBe(1);
  expect(
    settingsChanged({ ...defaultSettings, kb_segment_strict: true, outbox_webhook_url: 'https://x.example' }),
  ).toBe(2);
});

it('missing() counts the test records that live mode lacks', () => {
  expect(missing([{ key: 'a' }, { key: 'b' }], [{ key: 'b' }, { key: 'c' }])).toBe(1);
});

it.each([
  [{ live: 0, missing: 3 }, none, undefined],
  [{ live: 1, missing: 2 }, { live: 0, missing: 2 }, undefined],
  [{ live: 1, missing: 3 }, none, 'BETA_LIMIT_REACHED'],
  [none, { live: 1, missing: 2 }, 'BETA_LIMIT_REACHED'],
  // A copy of nothing always fits, even when the limit was lowered below the current number.
  [{ live: 9, missing: 0 }, { live: 9, missing: 0 }, undefined],
])(
  'a copy to live mode with documents %j and pages %j, at quotas of 3 and 2, gets the error code %s',
  (documents, pages, code) => {
    let refused: unknown;
    try {
      checkRoom(quotas, { documents, pages });
    } catch (problem) {
      refused = (problem as { code: string }).code;
    }
    expect(refused).toBe(code);
  },
);
