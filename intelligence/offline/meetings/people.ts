/** Finds the member of an organization that a name in a transcript means. Pure. */
import { readEmail } from '../../../models/rules/access/email.ts';
import type { Someone } from '../../../models/rules/interviews/found.ts';
import { fold } from '../../../models/rules/language/words.ts';

export type Person = { userId: string; name: string; email: string };

const address = /[^\s<>()[\],;:"']+@[^\s<>()[\],;:"']+\.[\p{L}]{2,}/u;
const plain = (name: string): string =>
  fold(name)
    .replaceAll(/[([{<].*?[)\]}>]/gu, ' ')
    .replaceAll(/[^\p{L}\p{M}\p{N}'’.-]+/gu, ' ')
    .trim();

/** The e-mail address in a text, in its stored form. */
export const addressIn = (text: string): string | undefined => readEmail(address.exec(text)?.[0]);

/**
 * The person that a name or an e-mail address means: the member with this address, or the only member whose full or
 * partial name matches. An unknown address is returned as it is. Undefined when the name is ambiguous.
 */
export function someoneNamed(said: string, members: readonly Person[]): Someone | undefined {
  const email = addressIn(said);
  if (email !== undefined) {
    const member = members.find((one) => one.email === email);
    return member ? { userId: member.userId } : { email };
  }
  const name = plain(said);
  if (name === '') return undefined;
  for (const fits of [whole, abbreviated, part, mailbox]) {
    const fitting = members.filter((member) => fits(name, member));
    if (fitting.length > 0) return fitting.length === 1 ? { userId: fitting[0]!.userId } : undefined;
  }
  return undefined;
}

const wordsIn = (name: string): string[] => plain(name).split(' ');
const whole = (name: string, member: Person): boolean => plain(member.name) === name;
const part = (name: string, member: Person): boolean => wordsIn(member.name).includes(name);
const mailbox = (name: string, { email }: Person): boolean =>
  email.split('@')[0]!.replaceAll(/[._-]+/gu, ' ') === name.replaceAll(/[._-]+/gu, ' ');

/** Matches `Ada L.`, `A. Lovelace`, and names without their middle names. */
function abbreviated(name: string, member: Person): boolean {
  const said = wordsIn(name);
  const known = wordsIn(member.name);
  if (said.length < 2 || known.length < 2) return false;
  const agree = (one: string, other: string): boolean => {
    const [short, long] = [one.replace('.', ''), other];
    return short === long || (short.length === 1 && long.startsWith(short));
  };
  return agree(said[0]!, known[0]!) && agree(said.at(-1)!, known.at(-1)!);
}

/** All ways in which people may be called, the longest first, as written. */
export function namesOf(people: readonly { name: string }[]): string[] {
  const names = people.flatMap(({ name }) => {
    const clean = name.replaceAll(/[([{<].*?[)\]}>]/gu, ' ').trim();
    return [clean, ...clean.split(/\s+/u)];
  });
  return [...new Set(names)]
    .filter((name) => /^\p{Lu}[\p{L}\p{M}'’.-]+(?:\s|$)/u.test(name))
    .toSorted((a, b) => b.length - a.length);
}
