/**
 * Decides whether the first rows of a table are a header. A wrong column name turns a right value into a wrong answer,
 * while a missing name costs little in a table of two columns. So in a narrow table, the first row is a header only
 * when it differs in kind from the rows below. A wider table is hard to read without names. So in file formats where
 * tables nearly always have a header, it is enough that the first row resembles no row below.
 */
type Row = readonly string[];

/** The kinds of values that a cell may hold; a cell with words has none. */
type Form = 'flag' | 'address' | 'phone' | 'date' | 'time' | 'money' | 'measure' | 'number';

/**
 * `names`: the column names. `rows`: the number of header rows. `values`: whether each column mostly holds values.
 * `forms`: the kinds of values in each column.
 */
export type TableHead = { names: string[]; rows: number; values: boolean[]; forms: ReadonlySet<Form | undefined>[] };

/** The maximum number of rows below the header that are examined. */
const sampleRows = 50;
/** The minimum share of a column's cells that must be of one kind; the other cells may be totals and remarks. */
const most = 0.75;
const maxNameCharacters = 60;
/** The maximum length of a column name that is a question or a sentence, allowed only over a column of values. */
const maxLongNameCharacters = 200;
const maxValueCharacters = 40;
/**
 * The maximum size of a column name that is recognized only because it is in the first row and resembles no value below
 * (`plainNames`).
 */
const maxPlainName = { characters: 30, words: 4 };

/** Common column names in four languages. */
const commonNames = new Set(
  [
    'name product item article service plan tariff category type price prices fee fees cost costs amount limit currency',
    'question answer description details notes note remarks comment city town country address street phone telephone',
    'e-mail email contact department branch role position title date day time hours code number status quantity unit size',
    'produkt artikel leistung tarif kategorie typ preis preise gebühr gebühren kosten betrag grenze währung frage antwort',
    'beschreibung bemerkung bemerkungen hinweis hinweise stadt ort land adresse straße telefon kontakt abteilung filiale',
    'funktion datum tag uhrzeit zeit nummer menge einheit größe',
    'nom produit prestation forfait catégorie prix frais coût tarif montant plafond devise question réponse description',
    'remarque ville pays adresse rue téléphone contact service agence fonction date jour heure horaires code numéro taille',
    'nombre producto artículo servicio plan categoría tipo precio precios tarifa comisión coste importe límite moneda',
    'pregunta respuesta descripción observaciones ciudad país dirección calle teléfono contacto departamento sucursal',
    'cargo fecha día hora horario código número talla',
  ].flatMap((line) => line.split(' ')),
);

const isCommon = (cell: string): boolean => commonNames.has(cell.toLowerCase());
const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell);

const isFlag = (cell: string): boolean => /^(?:yes|no|ja|nein|oui|non|sí|si|true|false|x|n\/a|[-–—✓✔✗✘×])$/i.test(cell);

/** Whether a cell holds a value (number, amount, date, time, yes or no) and not a name. */
export function isValue(cell: string): boolean {
  if (cell.length > maxValueCharacters || /^\d+(?:st|nd|rd|th|er|ère|e|[ºª])\s/i.test(cell)) return false;
  return /^(?:[A-Z]{3}\s)?[\p{Sc}<>≤≥~≈±+\-−–(]{0,3}\s?\p{Sc}?\s?\d/u.test(cell) || isFlag(cell);
}

/** The kind of value in a cell; undefined for words. `12 months`, `0-2 kg` and `24/7` are measures. */
function formOf(cell: string): Form | undefined {
  if (isFlag(cell)) return 'flag';
  if (/^(?:https?:\/\/|www\.)\S+$|^[^\s@]+@[^\s@]+$/i.test(cell)) return 'address';
  if (!isValue(cell)) return undefined;
  if (/^(?:\+|0[1-9]\d+[\s/-]|00[1-9])[\d\s()/-]{5,}$/.test(cell)) return 'phone';
  if (/^(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\s?\d{1,2}[./])/.test(cell)) return 'date';
  if (/^\d{1,2}:\d\d/.test(cell)) return 'time';
  if (/\p{Sc}|(?<!\p{L})[A-Z]{3}(?!\p{L})/u.test(cell)) return 'money';
  if (/(?<!\p{L})(?:euros?|dollars?|cents?|francs?|zł|kč|kr)(?!\p{L})/iu.test(cell)) return 'money';
  return /\p{L}|\d\s?[-–/]\s?\d/u.test(cell) ? 'measure' : 'number';
}

const isProse = (cell: string): boolean =>
  cell.length > maxNameCharacters || /[.!?;]$|@|:\/\//.test(cell.length <= 10 ? cell.replace(/\.$/, '') : cell);

function letterCase(cell: string): 'upper' | 'lower' | 'mixed' {
  const upper = cell.toUpperCase();
  const lower = cell.toLowerCase();
  if (upper === lower || cell.length < 2) return 'mixed';
  return cell === upper ? 'upper' : cell === lower ? 'lower' : 'mixed';
}

const mostly = (values: Row, test: (value: string) => boolean): boolean =>
  values.length > 0 && values.filter(test).length >= values.length * most;

/**
 * Whether a cell clearly differs in kind from the values below it, so that the cell can hardly be one of these values.
 */
function differs(name: string, values: Row): boolean {
  if (name === '' || values.length === 0) return false;
  if (isYear(name)) return !values.some(isYear);
  if (mostly(values, isValue) || mostly(values, isProse)) return true;
  if (isCommon(name) && !values.some(isCommon)) return true;
  const form = letterCase(name);
  if (form !== 'mixed' && !values.some((value) => letterCase(value) === form)) return true;
  const lengths = values.map((value) => value.length).toSorted((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  if ((lengths[0] ?? 0) > name.length && median >= 2 * name.length) return true;
  const distinct = new Set(values).size;
  return values.length >= 4 && distinct * 2 <= values.length && !values.includes(name);
}

/**
 * Whether a measure, date or number is the name of a column with another kind of values: `12 months` over amounts, or
 * `24/7` over yes and no.
 */
function measuresOthers(cell: string, corner: string, values: Row): boolean {
  const form = formOf(cell);
  // A bare number may count anything, so `corner` must name what is counted, as in `Size | 36 | 38`.
  if (form !== 'measure' && form !== 'date' && !(form === 'number' && isCommon(corner))) return false;
  const forms = values.map(formOf);
  // The values below must be of one kind. When they differ in kind, each row states another property, and the first row
  // is one of these rows and not a header.
  const alike = (['money', 'number', 'measure'] as const).some((other) =>
    mostly(values, (value) => [other, 'flag'].includes(formOf(value) ?? '')),
  );
  return values.length > 1 && !forms.includes(form) && alike;
}

/** Whether a cell may be a column name. `at` is the column's index, and `values` are the cells below. */
function canName(cell: string, at: number, values: Row, row: Row): boolean {
  if (isValue(cell)) return at > 0 && (isYear(cell) || (row.length > 2 && measuresOthers(cell, row[0] ?? '', values)));
  // A cell without a letter, digit or sign such as `€` names nothing. A leading bullet marks a list item.
  if (!/[\p{L}\p{N}#№%€$£]/u.test(cell) || /^[-–—•·*]\s/.test(cell)) return false;
  const question = cell.endsWith('?');
  // When the first column holds questions, its first cell is a question too, not a column name.
  if (question && (at === 0 || values.some((value) => value.endsWith('?')))) return false;
  if (cell.length > maxNameCharacters && !(cell.length <= maxLongNameCharacters && mostly(values, isValue)))
    return false;
  return !isProse((question ? cell.slice(0, -1) : cell).slice(0, maxNameCharacters));
}

const trimmed = (row: Row): string[] => row.map((cell) => cell.replace(/\s+/g, ' ').trim());
const columnsOf = (width: number, below: readonly Row[]): string[][] =>
  Array.from({ length: width }, (_, at) => below.map((row) => row[at] ?? '').filter((cell) => cell !== ''));

const wordsOf = (text: string): string[] =>
  text
    .slice(0, maxLongNameCharacters)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/**
 * Whether a cell looks like another value of its column: the same text, a shared word, or the same form (several
 * capitalized words, or lower case).
 */
function resembles(cell: string, values: Row, row: Row): boolean {
  const words = wordsOf(cell);
  if (values.some((value) => value.toLowerCase() === cell.toLowerCase())) return true;
  const shares = (value: string): boolean => wordsOf(value).some((word) => word.length > 3 && words.includes(word));
  if (values.length > 0 && values.filter(shares).length * 2 >= values.length) return true;
  const isFull = (text: string): boolean => /^\p{Lu}\S*(?:\s\p{Lu}\S*)+$/u.test(text);
  if (isFull(cell) && !words.some((word) => commonNames.has(word)) && mostly(values, isFull)) return true;
  const isLow = (text: string): boolean => text === text.toLowerCase();
  return isLow(cell) && !row.every(isLow) && mostly(values, isLow);
}

/**
 * Whether the row has three or more cells that are all short and resemble no value below them, so that it may be a
 * header.
 */
function plainNames(row: Row, below: readonly Row[], columns: readonly Row[]): boolean {
  const isWide = (other: Row): boolean => other.slice(row.length).some((cell) => cell !== '');
  return (
    row.filter((cell) => cell !== '').length > 2 &&
    !below.some(isWide) &&
    row.every((cell, at) => {
      const values = columns[at] ?? [];
      if (cell === '') return values.length === 0;
      const short = cell.length <= maxPlainName.characters && wordsOf(cell).length <= maxPlainName.words;
      return short && !isValue(cell) && !resembles(cell, values, row);
    })
  );
}

function namesColumns(row: Row, below: readonly Row[], likely: boolean): boolean {
  const filled = row.filter((cell) => cell !== '');
  // A header may lack one name (often the first), but not most of them.
  if (filled.length < 2 || filled.length < row.length / 2) return false;
  const columns = columnsOf(row.length, below);
  const values = (at: number): Row => columns[at] ?? [];
  if (!row.every((cell, at) => cell === '' || canName(cell, at, values(at), row))) return false;
  const seen = new Map<string, number>();
  for (const name of filled) seen.set(name.toLowerCase(), (seen.get(name.toLowerCase()) ?? 0) + 1);
  const repeated = (name: string): boolean => (seen.get(name.toLowerCase()) ?? 0) > 1;
  if (row.some((cell, at) => repeated(cell) && !mostly(values(at), isValue))) return false;
  const crossTable = row[0] === '' && values(0).length >= below.length * most;
  return crossTable || row.some((cell, at) => differs(cell, values(at))) || (likely && plainNames(row, below, columns));
}

/**
 * Merges two header rows into one name per column, such as `Domestic | | Abroad |` over `Call | SMS | Call | SMS`.
 * Undefined when the two rows are not a header.
 */
function twoRowNames(upper: Row, lower: Row, below: readonly Row[]): string[] | undefined {
  const width = Math.max(upper.length, lower.length);
  const above = Array.from({ length: width }, (_, at) => upper[at] ?? '');
  const under = Array.from({ length: width }, (_, at) => lower[at] ?? '');
  const [corner = '', cornerUnder = ''] = [above[0], under[0]];
  if (corner !== '' && cornerUnder !== '' && corner !== cornerUnder) return undefined;
  const names: string[] = [];
  let group = '';
  let grouped = false;
  for (const [at, name] of under.entries()) {
    const own = above[at] ?? '';
    if (at > 1 && name !== '' && group !== '' && (own === '' || own === group)) grouped = true;
    if (own !== '' || name === '') group = at === 0 ? '' : own;
    names.push([...new Set([at === 0 ? own : group, name])].filter(Boolean).join(' '));
  }
  const given = names.filter((name) => name !== '');
  const distinct = new Set(given.map((name) => name.toLowerCase())).size === given.length;
  const formed = [...above, ...under].every((cell, at) => cell === '' || canName(cell, at % width, [], []));
  if (!grouped || !distinct || !formed) return undefined;
  // The lower row is a header when its first cell is empty, because a row of values has a first cell. The lower row is
  // also a header when both rows have the same first cell. Otherwise the rows below must confirm the header.
  return (corner !== '' && cornerUnder === '') || corner === cornerUnder || namesColumns(names, below, false)
    ? names
    : undefined;
}

/**
 * Detects the header of a table; undefined when there is none or it is uncertain. `marked`: the author marked the first
 * row as a header. `likely`: the first row is nearly always a header in this file format.
 */
export function tableHead(
  rows: readonly Row[],
  { marked = false, likely = false }: { marked?: boolean; likely?: boolean } = {},
): TableHead | undefined {
  const [first, second = [], ...rest] = rows.slice(0, sampleRows + 2).map(trimmed);
  if (!first) return undefined;
  const both = rest.length > 0 ? twoRowNames(first, second, rest) : undefined;
  const below = both ? rest : [second, ...rest];
  const names = both ?? first;
  // Markdown marks the first row of every table as a header. So the mark is ignored when the row has a telephone
  // number, a URL or an e-mail address.
  const believed = marked && !first.some((cell) => ['phone', 'address'].includes(formOf(cell) ?? ''));
  if (!both && !believed && (rows.length < 2 || !namesColumns(first, below, likely))) return undefined;
  const columns = columnsOf(names.length, below);
  return {
    names: names.map((name) => name.slice(0, maxLongNameCharacters)),
    rows: both ? 2 : 1,
    values: columns.map((column) => mostly(column, isValue)),
    forms: columns.map((column) => new Set(column.map(formOf))),
  };
}

/**
 * Whether a cell is a URL, an e-mail address, a telephone number, a date or a time, in a column without such values.
 */
function isStrange(cell: string, at: number, head: TableHead): boolean {
  const form = formOf(cell);
  return (
    (form === 'address' || form === 'phone' || form === 'date' || form === 'time') && head.forms[at]?.has(form) !== true
  );
}

/**
 * Whether a row fits a header: it has no more cells than names, values where the column has values, and no cell that is
 * strange in its column (`isStrange`).
 */
export const fitsHead = (row: Row, head: TableHead): boolean =>
  row.every((cell, at) => {
    const text = cell.trim();
    if (text === '') return true;
    return at < head.names.length && (!head.values[at] || isValue(text)) && !isStrange(text, at, head);
  });

/**
 * Whether a row below a table is a remark with its own label, and not a row of the table: `Remarks | All prices include
 * VAT`.
 */
export function isRemark(row: Row, head: TableHead): boolean {
  const value = row[1]?.trim() ?? '';
  if (head.values[1] !== true) return false;
  if (isValue(value)) return formOf(value) === 'phone' && isStrange(value, 1, head);
  return value.split(/\s+/).length > 3 || /@|:\/\//.test(value);
}
