/**
 * Reads one string member of a JSON object while the object is still being streamed. It follows only the top level and
 * does not validate; the complete object is validated later.
 */
const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

export type MemberReader = {
  /** Takes the next piece of the JSON text and returns what it adds to the member; often empty. */ read(
    piece: string,
  ): string;
};

export function createMemberReader(member: string): MemberReader {
  let depth = 0;
  let inString = false;
  let string = '';
  let key: string | undefined;
  let afterColon = false;
  let pending = '';

  /**
   * Takes one character inside a string; returns what it adds to the string. An escape sequence adds its character when
   * the sequence is complete.
   */
  function inside(character: string): string {
    if (pending === '' && character !== '\\') return character;
    pending += character;
    if (pending.length === 1) return '';
    if (pending[1] === 'u') {
      if (pending.length < 6) return '';
      const code = Number.parseInt(pending.slice(2), 16);
      pending = '';
      return Number.isNaN(code) ? '' : String.fromCharCode(code);
    }
    const known = escapes[pending[1] ?? ''] ?? pending[1] ?? '';
    pending = '';
    return known;
  }

  function outside(character: string): void {
    if (character === '"') {
      inString = true;
      string = '';
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ':' && depth === 1) {
      key = string;
      afterColon = true;
    } else if (character === ',' && depth === 1) {
      key = undefined;
      afterColon = false;
    }
  }

  return {
    read(piece) {
      let added = '';
      for (const character of piece) {
        if (!inString) outside(character);
        else if (character === '"' && pending === '') inString = false;
        else {
          const text = inside(character);
          string += text;
          if (depth === 1 && afterColon && key === member) added += text;
        }
      }
      return added;
    },
  };
}
