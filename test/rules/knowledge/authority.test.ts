import { describe, expect, it } from '@jest/globals';
import {
  authorities,
  defaultAuthority,
  effectiveAuthority,
  sourceTypes,
} from '../../../models/rules/knowledge/authority.ts';

describe('effectiveAuthority', () => {
  it('a stored authority is the effective authority for every source type', () => {
    for (const type of sourceTypes)
      for (const stored of authorities) expect(effectiveAuthority(stored, type)).toBe(stored);
  });

  it('a source without a known authority gets the default of its type', () => {
    for (const stored of [undefined, null, '', 'secondary', '__proto__']) {
      expect(effectiveAuthority(stored, 'document')).toBe('normal');
      expect(effectiveAuthority(stored, 'website')).toBe('background');
    }
    expect(sourceTypes.map((type) => defaultAuthority(type))).toEqual(['normal', 'background']);
  });

  it('the order of the authorities is primary, normal, background: from the first to answer to the last', () => {
    expect(authorities).toEqual(['primary', 'normal', 'background']);
  });
});
