import { describe, expect, it } from '@jest/globals';
import {
  authorities,
  defaultAuthority,
  effectiveAuthority,
  sourceTypes,
} from '../../../models/rules/knowledge/authority.ts';

describe('effectiveAuthority', () => {
  it('is what is stored, for either type', () => {
    for (const type of sourceTypes)
      for (const stored of authorities) expect(effectiveAuthority(stored, type)).toBe(stored);
  });

  it('is what the type implies when nothing, or nothing known, is stored', () => {
    for (const stored of [undefined, null, '', 'secondary', '__proto__']) {
      expect(effectiveAuthority(stored, 'document')).toBe('normal');
      expect(effectiveAuthority(stored, 'website')).toBe('background');
    }
    expect(sourceTypes.map((type) => defaultAuthority(type))).toEqual(['normal', 'background']);
  });

  it('orders the tiers from the one that answers first', () => {
    expect(authorities).toEqual(['primary', 'normal', 'background']);
  });
});
