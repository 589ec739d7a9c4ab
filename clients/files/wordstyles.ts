/** Finds the styles of a Word document that hide text, directly or through the style on which they are based. */
import { partOf, readRelations, readXml, type Archive } from './zip.ts';

/** Maps a style id to whether the style hides text. A style that neither hides nor shows text is not in the map. */
export type HidingStyles = ReadonlyMap<string, boolean>;

type Style = { hides?: boolean; base?: string };

/** Maximum number of steps from a style to the styles on which it is based; Word allows about ten. */
const maxStyleSteps = 20;

/** The value of an on/off property. A property without a value is on. */
export const isOn = (value: string | undefined): boolean => !/^(?:0|false|off)$/.test(value ?? '');

async function readStyles(archive: Archive, part: string): Promise<Map<string, Style>> {
  const styles = new Map<string, Style>();
  const path: string[] = [];
  let style: Style = {};
  await readXml(archive, part, {
    open(name, { styleId, val }) {
      const place = path.slice(-2).join('/');
      if (name === 'style') {
        style = {};
        if (styleId !== undefined && !styles.has(styleId)) styles.set(styleId, style);
      } else if (name === 'basedOn' && val !== undefined) style.base = val;
      else if (name === 'vanish' && place === 'style/rPr') style.hides = isOn(val);
      path.push(name);
    },
    close: () => void path.pop(),
  });
  return styles;
}

/** The styles that hide or show text. Throws like `readXml`. */
export async function readHidingStyles(archive: Archive): Promise<HidingStyles> {
  const main = partOf(archive, await readRelations(archive, ''), '/officeDocument') ?? 'word/document.xml';
  const part = partOf(archive, await readRelations(archive, main), '/styles') ?? 'word/styles.xml';
  if (!archive.names.has(part)) return new Map();
  const styles = await readStyles(archive, part);
  const found = new Map<string, boolean>();
  for (const [id, style] of styles) {
    let step: Style | undefined = style;
    for (let count = 0; step && step.hides === undefined && count < maxStyleSteps; count += 1) {
      step = step.base === undefined ? undefined : styles.get(step.base);
    }
    if (step?.hides !== undefined) found.set(id, step.hides);
  }
  return found;
}
