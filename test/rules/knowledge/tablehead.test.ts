import { describe, expect, it } from '@jest/globals';
import { fitsHead, isRemark, isValue, tableHead } from '../../../models/rules/knowledge/tablehead.ts';

const grid = (text: string): string[][] => text.split('\n').map((line) => line.split('|'));
const namesOf = (text: string): string[] | undefined => tableHead(grid(text))?.names;

describe('a header row', () => {
  it.each([
    ['values stand below', 'Card|Fee\nGold|10 EUR\nDebit|0'],
    ['a question over yes and no', 'Product|Is it free?\nSauna|no\nPool|yes'],
    ['the same name over values', 'Item|Price|Price\nTandem|5|7\nScooter|3|4'],
    ['ordinals over amounts', '1st class|2nd class\n10 EUR|20 EUR\n11 EUR|21 EUR'],
    ['a sentence over values', `Boat|${'What a customer pays for each month of use, in euros'.repeat(2)}\nKayak|12`],
    ['years over amounts', 'Region|2024|2025\nNorth|10 EUR|12 EUR'],
    ['sentences stand below', 'Word|Meaning\nIBAN|The number of an account.\nBIC|The number of a bank.'],
    ['usual names', 'City|Country|Currency\nParis|France|Euro\nRome|Italy|Euro'],
    ['names in capitals', 'BOAT|CREW|COLOUR\nKayak|Ann|Red\nCanoe|Tom|Blue'],
    ['values that repeat', 'Boat|Crew|Pier\nKayak|Ann|West\nCanoe|Tom|West\nPunt|Eva|East\nGig|Max|East'],
    ['a corner left free', '|Basic|Premium\nSupport|by letter|by phone\nAdvice|once|daily'],
    ['times over amounts', 'Plan|12 months|24 months\nBasic|10 EUR|8 EUR\nFamily|20 EUR|16 EUR'],
    ['weights over amounts', 'Zone|0-2 kg|2-5 kg\nDomestic|5 EUR|7 EUR\nAbroad|15 EUR|20 EUR'],
    ['around the clock', 'Channel|24/7|Languages\nPhone|yes|German\nChat|no|English'],
    ['seasons over amounts', 'Room|01.05.-30.06.|01.07.-31.08.\nSingle|50 EUR|70 EUR\nDouble|80 EUR|110 EUR'],
    ['sizes over measures', 'Size|36|38|40\nChest|84 cm|88 cm|92 cm\nWaist|66 cm|70 cm|74 cm'],
    ['a name that begins with a sign', '_id|name|*fee\n1|Gold|10\n2|Debit|0'],
  ])('the first row of a table is recognized as column names: %s', (_label, text) =>
    expect(namesOf(text)).toEqual(grid(text)[0]),
  );

  it.each([
    ['one more of the same kind', 'Anna Schmidt|Branch manager|Rostock\nPeter Meyer|Teller|Berlin'],
    ['questions and answers', 'How do I pay?|With a card\nHow do I leave?|Write to us'],
    ['years over years', 'Region|2024\nNorth|2025'],
    ['numbers', '2024|2025|2026\n1|2|3'],
    ['an amount', 'Gold card|10 EUR\nDebit card|0 EUR'],
    ['the same name over words', 'Boat|Crew|Crew\nKayak|Ann the first of all|Tom the first of all'],
    ['a sentence', 'We open at nine.|Every day\nWe close at six.|On Sundays'],
    ['nothing below', 'Card|Fee'],
    ['mostly gaps', 'Card||||\nGold|1|2|3|4'],
    ['measures over measures', 'Weight|12 kg|14 kg\nLength|3 m|4 m\nWidth|1 m|2 m'],
    ['properties of all kinds', 'Weight|12 kg|14 kg\nSeats|2|3\nPrice|900 EUR|990 EUR'],
    ['a count over amounts', 'Seats|2|4\nPrice|10 EUR|20 EUR\nDeposit|5 EUR|9 EUR'],
    ['two columns of properties', 'Weight|12 kg\nPrice|900 EUR\nDeposit|90 EUR'],
    ['times over times', 'Harbour|6:05|7:05\nMarket|6:15|7:15'],
    ['items of a list', '- Gold|10 EUR\n- Debit|0 EUR'],
    ['words over words', 'Team|Lead|Deputy\nSales|Ann|Tom\nCare|Eva|Max'],
  ])('the first row of a table is not taken for column names: %s', (_label, text) =>
    expect(namesOf(text)).toBeUndefined(),
  );

  it('a first row that the author marked as a header is a header, even when it looks like the rows below', () => {
    const rows = grid('Anna Schmidt|Rostock\nPeter Meyer|Berlin');
    expect(tableHead(rows, { marked: true })?.names).toEqual(['Anna Schmidt', 'Rostock']);
  });

  it.each(['Phone|+49 381 1\nHours|9-17', 'Mail|a@b.example\nHours|9-17'])(
    'a row marked as a header is not taken for column names when its cells are values: %j',
    (text) => {
      expect(tableHead(grid(text), { marked: true })).toBeUndefined();
    },
  );
});

describe('the first row of a spreadsheet', () => {
  const likelyNames = (text: string): string[] | undefined => tableHead(grid(text), { likely: true })?.names;

  it.each([
    ['words over words', 'Team|Lead|Deputy\nSales|Ann|Tom\nCare|Eva|Max'],
    [
      'plans over what they offer',
      'Feature|Basic|Premium\nSupport|by letter|by phone\nAdvice|once|daily\nCard|debit|gold',
    ],
    ['a usual name in a full name', 'Branch Name|Region|Lead\nOld Market|North|Ann\nNew Town|South|Tom'],
    ['columns without a name and without values', 'Team|Lead|Deputy|\nSales|Ann|Tom|'],
    ['some values below', 'Property|Kayak|Canoe\nWeight|12 kg|20 kg\nColour|red|green'],
  ])('the first row of a spreadsheet is recognized as column names: %s', (_label, text) =>
    expect(likelyNames(text)).toEqual(grid(text)[0]),
  );

  it.each([
    ['a full name over full names', 'Anna Schmidt|Branch manager|Rostock\nPeter Meyer|Teller|Berlin'],
    ['the same word below', 'Anna|Manager|Rostock\nEva|Adviser|Rostock\nTom|Teller|Berlin'],
    ['a word in common', 'Ann|West pier|Boats\nTom|East pier|Crews'],
    ['one in small letters, as those below', 'Kayak|Ann|red\nCanoe|Tom|blue'],
    ['a value', 'Kayak|8|Ann\nCanoe|9|Tom'],
    ['wider rows below', 'Team|Lead|Deputy\nSales|Ann|Tom|Eva'],
    ['a long text', 'Team|Lead|Whoever may stand in for them when they are away\nSales|Ann|Tom'],
    ['two columns', 'Sales|Ann\nCare|Eva'],
  ])('the first row of a spreadsheet is not taken for column names: %s', (_label, text) =>
    expect(likelyNames(text)).toBeUndefined(),
  );
});

describe('two header rows', () => {
  const names = ['Tariff', 'Domestic Call', 'Domestic SMS', 'Abroad Call', 'Abroad SMS'];
  it.each([
    ['cells left free', 'Tariff|Domestic||Abroad|\n|Call|SMS|Call|SMS\nMini|0.05|0.02|0.5|0.2'],
    ['cells merged', 'Tariff|Domestic|Domestic|Abroad|Abroad\nTariff|Call|SMS|Call|SMS\nMini|0.05|0.02|0.5|0.2'],
    ['the corner below', '|Domestic||Abroad|\nTariff|Call|SMS|Call|SMS\nMini|0.05|0.02|0.5|0.2'],
  ])('two header rows of a table are combined into one name per column: %s', (_label, text) =>
    expect(tableHead(grid(text))).toMatchObject({ names, rows: 2 }),
  );

  it.each([
    ['a row of words below', 'Item|Price|Price\nTandem|5|7\nScooter|3|4'],
    ['a merged first cell', 'Card|Where|Fee\n|Branch|25 EUR\nSilver|Online|3 EUR'],
  ])('the second row of a table is not taken for a header row: %s', (_label, text) =>
    expect(tableHead(grid(text))?.rows).toBe(1),
  );
});

it.each([
  ['10', true],
  ['1.75 %', true],
  ['EUR 10', true],
  ['€10', true],
  ['from 10 EUR', false],
  ['09:00–17:00', true],
  ['2026-03-01', true],
  ['+49 381 555 77', true],
  ['12 Main Street', true],
  ['yes', true],
  ['nein', true],
  ['–', true],
  ['Gold', false],
  ['1st class', false],
  ['30 days after the end of the month in which it was made', false],
])('the table cell “%s” counts as a value and not as a name: %s', (cell, expected) =>
  expect(isValue(cell)).toBe(expected),
);

describe('rows below a header', () => {
  const head = tableHead(grid('Item|Price\nTandem|5\nScooter|3'));
  if (!head) throw new Error('the table has a head');
  it.each([
    ['Kayak|12', true, false],
    ['Kayak|', true, false],
    ['Kayak|free', false, false],
    ['Remarks|All prices include VAT', false, true],
    ['Contact|help@boats.example', false, true],
    ['Kayak|12|new', false, false],
    ['Contact|+49 381 555 77', false, true],
    ['Contact|0381 55577', false, true],
    ['Open|9:00-17:00', false, false],
    ['Since|2026-03-01', false, false],
  ])('the table row %s fits the columns Item and Price: %s, and is a remark: %s', (row, fits, remark) => {
    expect(fitsHead(row.split('|'), head)).toBe(fits);
    expect(isRemark(row.split('|'), head)).toBe(remark);
  });

  it('a phone number fits a column of phone numbers', () => {
    const phones = tableHead(grid('Name|Phone|Mail\nAnn|+49 381 1|a@b.example\nTom|+49 381 2|t@b.example'));
    if (!phones) throw new Error('the table has a head');
    const row = ['Eva', '+49 381 3', 'e@b.example'];
    expect([fitsHead(row, phones), isRemark(row, phones)]).toEqual([true, false]);
    expect(fitsHead(['Contact', 'help@b.example', ''], phones)).toBe(false);
  });
});
