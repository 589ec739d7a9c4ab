/**
 * Opens the ZIP container of a DOCX or XLSX in memory. Every entry is unpacked once under limits first, so no parser
 * sees an unchecked archive. Nothing is written to disk.
 */
import type { Readable } from 'node:stream';
import { SaxesParser } from 'saxes';
import { fromBufferPromise, type Entry } from 'yauzl';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { maxDepth, maxRatio, ratioMattersFromBytes, type Limits } from './limits.ts';

export type Archive = { names: ReadonlySet<string>; open(name: string): Promise<Readable> };

/**
 * Unpacks every entry once and counts the bytes. The content is not validated, because most parts are never read.
 * @throws `Unreadable` (bomb, encrypted), or the library's error for a damaged archive
 */
export async function openArchive(bytes: Buffer, limits: Limits): Promise<Archive> {
  // yauzl itself refuses wrong sizes and names outside the archive ("../x").
  const zip = await fromBufferPromise(bytes, { validateEntrySizes: true, decodeStrings: true });
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (entry.isEncrypted()) throw new Unreadable('encrypted');
    entries.set(entry.fileName, entry);
    if (entries.size > limits.maxEntries) throw new Unreadable('bomb');
  }
  let unpacked = 0;
  for (const [name, entry] of entries) {
    if (name.endsWith('/')) continue;
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      unpacked += chunk.length;
      const ratio = unpacked / bytes.length;
      if (unpacked > limits.maxUnpackedBytes) throw new Unreadable('bomb');
      if (unpacked > ratioMattersFromBytes && ratio > maxRatio) throw new Unreadable('bomb');
    }
  }
  return {
    names: new Set(entries.keys()),
    open(name) {
      const entry = entries.get(name);
      if (!entry) throw new Unreadable('broken', { cause: new Error(`the archive has no ${name}`) });
      return zip.openReadStreamPromise(entry);
    },
  };
}

export type XmlHandlers = {
  /**
   * Called for each namespace declaration, before `open` of the element that contains it. The prefix is empty for the
   * default namespace.
   */
  namespace?(prefix: string, uri: string): void;
  /** The names of the element and its attributes have no prefix. */
  open?(name: string, attributes: Record<string, string>, prefix: string): void;
  close?(name: string): void;
  text?(text: string): void;
};

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * A strict streaming XML parser. It throws on a syntax error, and on nesting that would exhaust a parser's stack. It
 * also throws on a document type, because entity bombs need one and office programs write none.
 */
function xmlReader(handlers: XmlHandlers): { write(bytes: Uint8Array): void; end(): void } {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const fail = (cause: Error): never => {
    throw new Unreadable('broken', { cause });
  };
  parser.on('error', fail);
  parser.on('doctype', () => fail(new Error('the XML declares a document type')));
  parser.on('opentag', (tag) => {
    depth += 1;
    if (depth > maxDepth) throw new Unreadable('too_deep');
    if (!handlers.open) return;
    const attributes: Record<string, string> = {};
    for (const [name, value] of Object.entries(tag.attributes)) {
      if (name.startsWith('xmlns')) handlers.namespace?.(name.slice('xmlns:'.length), value);
      else attributes[localName(name)] = value;
    }
    const colon = tag.name.indexOf(':');
    handlers.open(tag.name.slice(colon + 1), attributes, tag.name.slice(0, Math.max(0, colon)));
  });
  parser.on('closetag', (tag) => {
    depth -= 1;
    handlers.close?.(localName(tag.name));
  });
  if (handlers.text) {
    parser.on('text', (value) => handlers.text?.(value));
    parser.on('cdata', (value) => handlers.text?.(value));
  }
  return {
    write(bytes) {
      decoder ??= new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8', {
        fatal: true,
      });
      parser.write(decoder.decode(bytes, { stream: true }));
    },
    end() {
      parser.write(decoder?.decode() ?? '');
      parser.close();
    },
  };
}

/**
 * Streams one XML part of an archive to the handlers. @throws `Unreadable` (broken, too_deep), or an error of unpacking
 * or decoding
 */
export async function readXml(archive: Archive, name: string, handlers: XmlHandlers): Promise<void> {
  const reader = xmlReader(handlers);
  for await (const chunk of (await archive.open(name)) as AsyncIterable<Buffer>) reader.write(chunk);
  reader.end();
}

/** The targets of a part's relationships by id, as paths in the archive. An empty `part` means the archive itself. */
export async function readRelations(
  archive: Archive,
  part: string,
): Promise<Map<string, { type: string; target: string }>> {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const relations = new Map<string, { type: string; target: string }>();
  const name = `${folder}_rels/${part.slice(slash + 1)}.rels`;
  if (!archive.names.has(name)) return relations;
  await readXml(archive, name, {
    open(tag, { Id, Target, Type, TargetMode }) {
      if (tag !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
      const path = new URL(Target, `part:///${folder}`).pathname.replace(/^\/+/, '');
      relations.set(Id, { type: Type ?? '', target: decodeURIComponent(path) });
    },
  });
  return relations;
}

/** The part that a relationship of this type (such as `/styles`) names; undefined when the archive has none. */
export function partOf(
  archive: Archive,
  relations: Awaited<ReturnType<typeof readRelations>>,
  kind: string,
): string | undefined {
  return [...relations.values()].find(({ type, target }) => type.endsWith(kind) && archive.names.has(target))?.target;
}
