/** Whom a name in a transcript means, of the members of an organization. Pure. */
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

/**
 * Whom a name or an e-mail address means: a member whose address it is, or whose name it is, whole or in part, where nobody
 * else has that name; an address of nobody here means itself. Undefined when it is not clear.
 */
export function someoneNamed(said: string, members: readonly Person[]): Someone | undefined {
  const found = address.exec(said)?.[0];
  const email = found === undefined ? undefined : readEmail(found);
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

/** `Ada L.` or `A. Lovelace`, and names of which the middle ones are left out. */
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

/** Every way in which people may be called, the longest first, as they are written. */
export function namesOf(people: readonly { name: string }[]): string[] {
  const names = people.flatMap(({ name }) => {
    const clean = name.replaceAll(/[([{<].*?[)\]}>]/gu, ' ').trim();
    return [clean, ...clean.split(/\s+/u)];
  });
  return [...new Set(names)]
    .filter((name) => /^\p{Lu}[\p{L}\p{M}'’.-]+(?:\s|$)/u.test(name))
    .toSorted((a, b) => b.length - a.length);
}
