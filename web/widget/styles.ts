/**
 * The look of the widget: two colour themes and one style sheet. Logical directions are used, so that right-to-left
 * languages need no separate rules. Sizes scale with the reader's font size.
 */

/** Text has a contrast of at least 4.5:1 to its background; borders and focus marks have at least 3:1. */
export const colors = {
  light: {
    ground: '#ffffff',
    raised: '#eef1f6',
    text: '#17202b',
    quiet: '#526071',
    accent: '#1d57a8',
    'on-accent': '#ffffff',
    edge: '#7d8998',
    danger: '#ad1f1a',
    note: '#fff4d6',
    'on-note': '#4d3a00',
  },
  dark: {
    ground: '#171c24',
    raised: '#262e3a',
    text: '#e9eef5',
    quiet: '#a9b5c4',
    accent: '#8ab8f5',
    'on-accent': '#0c1a2c',
    edge: '#7b8898',
    danger: '#ffaba3',
    note: '#3a3115',
    'on-note': '#f6e3a8',
  },
} as const;

/** The combinations of colours in use: [foreground, background, minimum contrast]. */
export const pairs: readonly [keyof typeof colors.light, keyof typeof colors.light, number][] = [
  ['text', 'ground', 4.5],
  ['text', 'raised', 4.5],
  ['quiet', 'ground', 4.5],
  ['quiet', 'raised', 4.5],
  ['accent', 'ground', 4.5],
  ['accent', 'raised', 4.5],
  ['on-accent', 'accent', 4.5],
  ['danger', 'ground', 4.5],
  ['on-note', 'note', 4.5],
  ['edge', 'ground', 3],
];

const variables = (set: Readonly<Record<string, string>>): string =>
  Object.entries(set)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');

/** The media query for a panel that covers the screen: on phones, and in windows zoomed to the size of a phone. */
export const coversScreen = '(max-width: 480px), (max-height: 480px)';

export const css = `
:host { all: initial !important; }
.root { ${variables(colors.light)}; color-scheme: light; color: var(--text); font: medium/1.45 system-ui, sans-serif; }
.root[data-theme='dark'] { ${variables(colors.dark)}; color-scheme: dark; }
@media (prefers-color-scheme: dark) {
  .root[data-theme='auto'] { ${variables(colors.dark)}; color-scheme: dark; }
}
.root, .root * { box-sizing: border-box; }
.root [hidden] { display: none !important; }
.vh { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
button, textarea, input { font: inherit; color: inherit; }
button { cursor: pointer; border: 0; background: none; }
button:disabled { cursor: default; opacity: 0.6; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; inline-size: 1.5em; block-size: 1.5em; fill: none; stroke: currentcolor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
[dir='rtl'] .turn { transform: scaleX(-1); }

.launcher, .panel { position: fixed; z-index: 2147483000; }
.launcher {
  inset-block-end: 20px; inset-inline-end: 20px; inline-size: 3.5em; block-size: 3.5em; border-radius: 50%;
  display: grid; place-items: center; background: var(--accent); color: var(--on-accent);
  border: 2px solid var(--ground); box-shadow: 0 4px 16px rgb(0 0 0 / 28%);
}
.launcher[aria-expanded='true'] .when-closed, .launcher[aria-expanded='false'] .when-open { display: none; }
.launcher:focus-visible { outline-color: var(--accent); outline-width: 3px; }
.badge {
  position: absolute; inset-block-start: -6px; inset-inline-end: -6px; min-inline-size: 1.7em; padding: 0.1em 0.4em;
  border-radius: 1em; background: var(--danger); color: var(--ground); border: 2px solid var(--ground);
  font-size: 0.8em; font-weight: 700; text-align: center; line-height: 1.3;
}
.panel {
  inset-block-end: calc(20px + 3.5em + 12px); inset-inline-end: 20px; inline-size: 23.5em; max-inline-size: calc(100vw - 40px);
  block-size: 36em; max-block-size: calc(100vh - 40px - 3.5em - 12px); max-block-size: calc(100dvh - 40px - 3.5em - 12px);
  display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--edge); border-radius: 14px;
  background: var(--ground); box-shadow: 0 12px 40px rgb(0 0 0 / 30%);
}
.root[data-position='start'] .launcher, .root[data-position='start'] .panel { inset-inline: 20px auto; }
.root[data-position='left'] .launcher, .root[data-position='left'] .panel { right: auto; left: 20px; }
.root[data-position='right'] .launcher, .root[data-position='right'] .panel { right: 20px; left: auto; }

.bar { display: flex; align-items: center; gap: 4px; padding: 8px; padding-inline-start: 16px; background: var(--accent); color: var(--on-accent); }
.bar img { block-size: 2em; inline-size: auto; max-inline-size: 6em; border-radius: 6px; object-fit: contain; }
.head { flex: 1; min-inline-size: 0; }
.hours { margin: 0; font-size: 0.8em; }
.hours:empty { display: none; }
h2 { margin: 0; font-size: 1.05em; font-weight: 650; overflow-wrap: anywhere; }
.bar button { min-inline-size: 2.75em; min-block-size: 2.75em; padding: 0 0.5em; display: grid; place-items: center; border-radius: 8px; }
.bar button:hover { background: rgb(128 128 128 / 30%); }
.bar :focus-visible { outline-color: var(--on-accent); outline-offset: -3px; }

.scroll { flex: 1; min-block-size: 0; overflow-y: auto; overscroll-behavior: contain; overflow-anchor: none; padding: 14px; }
.scroll:focus-visible { outline-offset: -3px; }
.earlier {
  display: block; margin: 0 auto 14px; min-block-size: 2.75em; padding: 0 1em; border: 1px solid var(--edge); border-radius: 12px;
  color: var(--accent);
}
.greeting { margin: 0 0 14px; color: var(--quiet); }
.entry { display: flex; flex-direction: column; align-items: flex-start; margin-block-end: 14px; }
.entry.customer { align-items: flex-end; }
.entry > * { max-inline-size: 88%; }
.by { display: flex; align-items: center; gap: 5px; margin: 0 4px 3px; font-size: 0.8em; color: var(--quiet); }
.face {
  flex: none; display: grid; place-items: center; overflow: hidden; inline-size: 2em; block-size: 2em; border-radius: 50%;
  background: var(--raised); color: var(--text); font-size: 0.85em; font-weight: 700;
}
.face svg { inline-size: 1.3em; block-size: 1.3em; }
.face img { inline-size: 100%; block-size: 100%; object-fit: cover; }
.agent .face { background: var(--accent); color: var(--on-accent); }
.agent .body { border-inline-start: 3px solid var(--accent); }
.body {
  padding: 8px 12px; border-radius: 14px; border-end-start-radius: 4px; background: var(--raised);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.body p { margin: 0; }
.customer .body { border-radius: 14px; border-end-end-radius: 4px; background: var(--accent); color: var(--on-accent); }
.customer.waiting .body { background: var(--ground); color: var(--text); border: 1px dashed var(--edge); }
.customer.failed .body { background: var(--ground); color: var(--danger); border: 1px solid var(--danger); }
.entry.system .body { background: none; color: var(--quiet); padding-inline: 0; }
.body a { color: inherit; }
.mark { margin: 3px 4px 0; font-size: 0.8em; color: var(--quiet); }
.failed .mark { color: var(--danger); }
.sources { margin: 6px 4px 0; font-size: 0.85em; color: var(--quiet); }
.sources p { margin: 0; }
.sources ul { margin: 2px 0 0; padding-inline-start: 1.3em; }
.sources li { overflow-wrap: anywhere; }
.sources a { color: var(--accent); text-underline-offset: 2px; }
.starters { margin-block-end: 14px; }
.offers { display: flex; flex-direction: column; align-items: stretch; gap: 6px; margin: 6px 0 0; padding: 0; list-style: none; }
.offers button {
  inline-size: 100%; min-block-size: 2.75em; padding: 0.4em 0.9em; border: 1px solid var(--edge); border-radius: 12px;
  color: var(--accent); text-align: start; overflow-wrap: anywhere;
}
.offers button:hover { background: var(--raised); }
.says { display: block; color: var(--quiet); font-size: 0.88em; }
.entry.ask .body { padding: 10px 12px; border: 1px solid var(--edge); border-radius: 12px; color: var(--text); }
.what { font-weight: 650; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 6px 0; }
dt { color: var(--quiet); }
dd { margin: 0; min-inline-size: 0; overflow-wrap: anywhere; }
.ask .actions { margin-block-start: 8px; align-self: stretch; }
.question { display: grid; gap: 10px; align-self: stretch; margin-block-start: 8px; padding: 0; border: 0; }
.question :is(input, select):not([type='checkbox']) {
  display: block; inline-size: 100%; min-block-size: 2.75em; padding: 0 0.75em; margin-block-start: 4px;
  border: 1px solid var(--edge); border-radius: 12px; background: var(--ground); color: var(--text);
}
.tick { display: flex; align-items: center; gap: 8px; min-block-size: 2.75em; }
.note { font-size: 0.88em; color: var(--quiet); }
.dots { display: flex; gap: 5px; padding: 13px 14px; }
.dots i { inline-size: 7px; block-size: 7px; border-radius: 50%; background: var(--quiet); animation: beat 1.2s infinite ease-in-out; }
.dots i:nth-child(2) { animation-delay: 0.15s; }
.dots i:nth-child(3) { animation-delay: 0.3s; }
@keyframes beat { 0%, 60%, 100% { opacity: 0.35; } 30% { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { .dots i { animation: none; opacity: 0.8; } }

.status { margin: 0; padding: 7px 14px; font-size: 0.88em; background: var(--note); color: var(--on-note); }
.status:empty { display: none; }

form { border-block-start: 1px solid var(--raised); padding: 10px; }
.compose { display: flex; align-items: flex-end; gap: 8px; }
textarea {
  flex: 1; min-inline-size: 0; field-sizing: content; min-block-size: 2.75em; max-block-size: 8em; resize: none; padding: 0.6em 0.75em;
  border: 1px solid var(--edge); border-radius: 12px; background: var(--ground); color: var(--text);
}
textarea::placeholder { color: var(--quiet); opacity: 1; }
textarea:read-only { background: var(--raised); }
textarea:focus-visible { outline-offset: 0; }
.primary {
  flex: none; min-inline-size: 2.75em; min-block-size: 2.75em; padding: 0 0.75em; display: grid; place-items: center;
  border-radius: 12px; background: var(--accent); color: var(--on-accent);
}
.secondary { min-block-size: 2.75em; padding: 0 0.75em; border-radius: 12px; text-decoration: underline; text-underline-offset: 2px; }
fieldset { margin: 0 0 10px; padding: 0; border: 0; min-inline-size: 0; }
legend { padding: 0; margin-block-end: 8px; font-weight: 600; }
.contact { display: grid; gap: 6px; font-size: 0.92em; }
.contact p { margin: 0; }
.contact .wrong { color: var(--danger); }
.contact .wrong:empty { display: none; }
.contact input { min-block-size: 2.75em; padding: 0 0.75em; border: 1px solid var(--edge); border-radius: 12px; background: var(--ground); color: var(--text); }
.scale { display: flex; gap: 6px; }
.scale label { flex: 1; position: relative; display: grid; place-items: center; min-block-size: 2.75em; border: 1px solid var(--edge); border-radius: 10px; cursor: pointer; }
.scale input { position: absolute; inset: 0; margin: 0; inline-size: 100%; block-size: 100%; opacity: 0; cursor: pointer; }
.scale label:has(:checked) { background: var(--accent); color: var(--on-accent); border-color: var(--accent); font-weight: 700; }
.scale label:has(:focus-visible) { outline: 2px solid var(--accent); outline-offset: 2px; }
.ends { display: flex; justify-content: space-between; margin-block-start: 4px; font-size: 0.8em; color: var(--quiet); }
.actions { display: flex; justify-content: flex-end; gap: 6px; flex-wrap: wrap; }

@media ${coversScreen} {
  .root .panel[data-open] { inset: 0; inline-size: auto; max-inline-size: none; block-size: auto; max-block-size: none; border: 0; border-radius: 0; }
  .panel[data-open] ~ .launcher { display: none; }
}
@media (forced-colors: active) {
  .body, .launcher, .primary { border: 1px solid; }
  .scale label:has(:checked) { outline: 3px solid Highlight; }
}
@media print { .root { display: none; } }
`;
