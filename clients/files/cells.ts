/** The text of a spreadsheet cell as people see it: percentages, currencies and dates in their number format. */
import { dateFromSerial, format, getFormatDateInfo, isDateFormat } from 'numfmt';

/** A cell as the file stores it: type, number format, and the value as text. */
export type StoredCell = { type: string; format: string; value: string };

const two = (value: number): string => String(value).padStart(2, '0');

/**
 * A date serial number as `2026-03-01`, `2026-03-01 14:30`, `14:30` or `14:30:15`, depending on the format. ISO order
 * prevents confusing day and month.
 */
function dateText(serial: number, pattern: string, date1904: boolean): string | undefined {
  const parts = dateFromSerial(date1904 ? serial + 1462 : serial);
  if (parts === null) return undefined;
  const [year, month, day, hours, minutes, seconds] = parts;
  const shows = getFormatDateInfo(pattern);
  const date = `${year}-${two(month)}-${two(day)}`;
  const time = [hours, minutes]
    .concat(shows.seconds ? [seconds] : [])
    .map(two)
    .join(':');
  // In `mm:ss`, `mm` means minutes, not the month.
  const showsMonth = shows.month && (shows.hours || !shows.seconds);
  if (!shows.year && !showsMonth && !shows.day) return time;
  return shows.hours ? `${date} ${time}` : date;
}

/** A number in its number format. The plain number when the format is not supported. */
function numberText(raw: string, pattern: string, date1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  try {
    // Formats such as [h]:mm are durations that exceed 24 hours, not times of day.
    if (isDateFormat(pattern) && !/\[[hms]+\]/i.test(pattern)) return dateText(value, pattern, date1904) ?? raw;
    // The format `;;;` hides a value; its text is then empty.
    return format(pattern, value).replace(/\s+/g, ' ').trim();
  } catch {
    return raw;
  }
}

/** Decodes characters that XML cannot contain, which Excel writes as `_x000D_`. */
export const unescapeString = (text: string): string =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The text of a cell; empty when the cell shows nothing. `strings`: the workbook's shared strings. */
export function cellText(
  { type, format: pattern, value }: StoredCell,
  { strings, date1904 }: { strings: readonly string[]; date1904: boolean },
): string {
  if (value === '') return '';
  if (type === 's') return (strings[Number(value)] ?? '').trim();
  if (type === 'b') return value === '1' ? 'yes' : 'no';
  // An error value such as #N/A is of no use to a reader.
  if (type === 'e') return '';
  if (type === 'n') return numberText(value, pattern, date1904);
  if (type === 'd') return value.replace(/T00:00:00(?:\.0+)?Z?$/, '').replace('T', ' ');
  return unescapeString(value).trim();
}
