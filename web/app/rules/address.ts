/** The parts of an address of the page: `/app/{screen}/{id}?{filters}`. */

export const screens = ['inbox', 'knowledge', 'tools', 'deliveries', 'settings', 'start'] as const;
export type Screen = (typeof screens)[number];

export type Address = {
  screen: Screen;
  /** What is open on the screen: a conversation's id or a tab's name, for example. */
  id: string;
  /** What is open within `id`: in the tab `article`, the document's id or `new`. */
  part: string;
  filters: Readonly<Record<string, string>>;
};

export function readAddress(path: string, search: string): Address {
  const [, , screen, id = '', part = ''] = path.split('/').map(decode);
  const known = screens.find((one) => one === screen);
  return { screen: known ?? 'inbox', id, part, filters: Object.fromEntries(new URLSearchParams(search)) };
}

export function addressOf({ screen, id = '', part = '', filters = {} }: Partial<Address> & { screen: Screen }): string {
  const path = ['/app', screen, id, part]
    .filter(Boolean)
    .map((step, at) => (at === 0 ? step : encodeURIComponent(step)));
  const kept = Object.entries(filters).filter(([, value]) => value !== '');
  return path.join('/') + (kept.length > 0 ? `?${new URLSearchParams(kept).toString()}` : '');
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return '';
  }
}
