/**
 * What is read from a mail: the words of the author in any form and encoding, and the signing domain. Hostile mails are
 * read by the file-reading process.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { createFiles } from '../../../clients/files/files.ts';
import { defaultLimits } from '../../../clients/files/limits.ts';
import { readMail } from '../../../clients/files/mail.ts';
import { mailContent } from '../../../clients/files/mailformat.ts';
import { Unreadable } from '../../../models/rules/base/unreadable.ts';
import { readerProgram } from '../../kit/readerprogram.ts';

const files = createFiles({ program: await readerProgram(), spares: 0 });
afterAll(() => files.close());

const head = 'From: Alice <alice@customer.example>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <a@b>\r\n';
/** `body` is in Latin-1, one byte for each character. */
const mailOf = (type: string, body: string): Buffer =>
  Buffer.from(`${head}${type === '' ? '' : `Content-Type: ${type}\r\n`}\r\n${body}`, 'latin1');
/** As a file process and its caller pass it on. */
const parsed = async (bytes: Buffer) =>
  mailContent.parse(JSON.parse(JSON.stringify(await readMail(bytes, defaultLimits))));
const read = (type: string, body: string) => parsed(mailOf(type, body));
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const plain = 'text/plain; charset=utf-8';

describe('the words of a mail’s author', () => {
  it.each([
    ['Gmail', plain, 'My answer\n\nOn Sun, 22 Nov 2026 at 10:00, Bank <a@b.example> wrote:\n\n> old\n> older\n'],
    [
      'Gmail in German',
      plain,
      'My answer\n\nAm So., 22. Nov. 2026 um 10:00 Uhr schrieb Bank <a@b.example>:\n\n> alt\n',
    ],
    ['French', plain, 'My answer\n\nLe dim. 22 nov. 2026 à 10:00, Bank <a@b.example> a écrit :\n\n> vieux\n'],
    ['Spanish', plain, 'My answer\n\nEl dom, 22 nov 2026 a las 10:00, Bank (<a@b.example>) escribió:\n\n> viejo\n'],
    [
      'Outlook',
      plain,
      'My answer\n\nFrom: Bank <a@b.example>\nSent: Sunday, November 22, 2026 10:00 AM\nTo: Alice\nSubject: x\n\nold\n',
    ],
    ['a signature', plain, 'My answer\n\n-- \nAlice\nDirector'],
    ['a phone', plain, 'My answer\n\nSent from my iPhone'],
    ['our marker', plain, 'My answer\n\n##- Please write your answer above this line. -##\n\nAnna:\nold'],
    ['an answer below', plain, '> old\n> older\n\nMy answer'],
    [
      'HTML of Gmail',
      'text/html',
      '<div>My <b>answer</b></div><div class="gmail_quote">On … wrote:<blockquote>old</blockquote></div>',
    ],
    [
      'HTML of Outlook',
      'text/html',
      '<p>My answer</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p><b>From:</b> Bank</p></div><p>old</p>',
    ],
    [
      'HTML of OWA',
      'text/html',
      '<p>My answer</p><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From: Bank</div><div>old</div>',
    ],
    ['HTML of Apple', 'text/html', '<div>My answer</div><blockquote type="cite">old</blockquote>'],
    ['English', plain, 'My answer\n\nKind regards,\nAlice Smith\nHead of Cards'],
    ['English, short', plain, 'My answer\n\nBest, Alice'],
    ['English, without a blank', plain, 'My answer\n\nRegards,Alice'],
    ['English, formal', plain, 'My answer\nYours sincerely\n\nAlice Smith'],
    ['German', plain, 'My answer\n\nMit freundlichen Grüßen\nAnna Müller\nTel. 030 123456'],
    ['German, short', plain, 'My answer\n\nLG, Anna'],
    ['German, with a name', plain, 'My answer\nViele Grüße Anna'],
    ['German, from a place', plain, 'My answer\nLiebe Grüsse aus Zürich,\nAnna'],
    ['French, closed', plain, 'My answer\n\nBien cordialement,\nAmélie Dupont'],
    ['French, formal', plain, 'My answer\nVeuillez agréer, Madame, Monsieur, mes salutations distinguées.\nA. Dupont'],
    ['French, salutations', plain, 'My answer\nMeilleures salutations\nAmélie'],
    ['Spanish, closed', plain, 'My answer\n\nUn cordial saludo,\nLucía Pérez'],
    ['Spanish, short', plain, 'My answer\nSaludos\nLucía'],
    ['Spanish, formal', plain, 'My answer\nAtentamente,\n\nLucía Pérez\nMadrid'],
    [
      'a closing above a quotation',
      plain,
      'My answer\n\nMit besten Grüßen\nAnna\n\nAm So., 22. Nov. 2026 um 10:00 Uhr schrieb Bank <a@b.example>:\n\n> alt\n',
    ],
    ['HTML with a closing', 'text/html', '<p>My answer</p><p>Cordialement,<br>Amélie</p>'],
    ['HTML with a script', 'text/html', '<script>alert(1)</script><style>p{}</style><p>My answer</p>'],
  ])('the words of a mail’s author are separated from quotes and signature: %s', async (_, type, body) => {
    const { text, full_text } = await read(type, utf8(body));
    expect(text).toBe('My answer');
    expect(full_text).toContain('My');
  });

  it.each([
    ['UTF-8', plain, utf8('Schöne Grüße – 日本')],
    ['Latin-1', 'text/plain; charset=iso-8859-1', 'Sch\u00f6ne Gr\u00fc\u00dfe'],
    ['Latin-1 that says UTF-8', plain, 'Sch\u00f6ne Gr\u00fc\u00dfe'],
    ['Latin-1 that says nothing', 'text/plain', 'Sch\u00f6ne Gr\u00fc\u00dfe'],
    ['Latin-1 without a type', '', 'Sch\u00f6ne Gr\u00fc\u00dfe'],
    ['quoted-printable', `${plain}\r\nContent-Transfer-Encoding: quoted-printable`, 'Sch=C3=B6ne Gr=C3=BC=C3=9Fe'],
    ['base64', `${plain}\r\nContent-Transfer-Encoding: base64`, Buffer.from('Schöne Grüße').toString('base64')],
  ])('a mail is decoded from %s', async (_, type, body) => {
    const { text, subject } = await read(type, body);
    expect(text).toMatch(/^Schöne Grüße/);
    expect(subject).toBe('Grüße');
  });
});

/** A mail of this author whose header begins with these lines. */
const signedBy = async (lines: readonly string[], from = 'alice@customer.example') =>
  (await parsed(Buffer.from([...lines, `From: ${from}`, 'Subject: x', '', 'x'].join('\r\n')))).signed_by;
/**
 * Authentication results as Amazon SES writes them. They violate the grammar, because the entries after `client-ip` are
 * not methods.
 */
const found = (dkim: string, envelope = 'alice@customer.example', helo = 'mx.customer.example'): string =>
  `Authentication-Results: amazonses.com;\r\n spf=pass (spfCheck: domain of x designates 192.0.2.1 as permitted sender) client-ip=192.0.2.1; envelope-from=${envelope}; helo=${helo};\r\n ${dkim};\r\n dmarc=none header.from=customer.example;`;
const signature = (d: string, more = ''): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${d}; s=s1;${more}\r\n h=from:subject; bh=YQ==;\r\n b=YWJj\r\n\tZGVm`;
const own = 'dkim=pass header.i=@customer.example';
const evil = 'dkim=pass header.i=@evil.example';

describe('a postscript', () => {
  const quotation = 'On Sun, 22 Nov 2026 at 10:00, Bank <a@b.example> wrote:\n\n> old\n>\n> PS: older';
  const outlook = 'From: Bank <a@b.example>\nSent: Sunday\n\nold\n\nKind regards,\nBob\n\nPS: older';
  it.each([
    ['English', 'My answer\n\nKind regards,\nAlice\n\nPS: It is 4711.', 'PS: It is 4711.'],
    ['right below the name', 'My answer\n\nKind regards,\nAlice\nPS: It is 4711.', 'PS: It is 4711.'],
    ['German', 'My answer\n\nViele Grüße\nAnna\n\nP.S. Es ist 4711.', 'P.S. Es ist 4711.'],
    ['French', 'My answer\n\nCordialement,\nAmélie\n\nP.-S. : 4711', 'P.-S. : 4711'],
    ['Spanish', 'My answer\n\nSaludos\nLucía\n\nPD: Es 4711.', 'PD: Es 4711.'],
    ['two', 'My answer\n\nViele Grüße\nAnna\n\nPS: Eins\n\nPPS: Zwei', 'PS: Eins\n\nPPS: Zwei'],
    ['a note', 'My answer\n\nBest wishes\nAlice\n\nNB It is 4711.\n\nSent from my iPhone', 'NB It is 4711.'],
    ['above the closing', 'My answer\n\nPS: It is 4711.\nLG, Anna', 'PS: It is 4711.'],
    ['above a quotation', `My answer\n\nKind regards,\nAlice\n\nPS: It is 4711.\n\n${quotation}`, 'PS: It is 4711.'],
    ['above a mail of Outlook', `My answer\n\nViele Grüße\nAnna\n\nPS: 4711\n\n${outlook}`, 'PS: 4711'],
  ])(
    'the author’s postscript is kept once, at the end, and the postscript of a quoted mail is dropped: %s',
    async (_, body, postscript) => expect((await read(plain, utf8(body))).text).toBe(`My answer\n\n${postscript}`),
  );

  it.each([
    ['of a quoted mail', `My answer\n\nKind regards,\nAlice\n\n${quotation}`],
    ['of a quoted mail of Outlook', `My answer\n\nKind regards,\nAlice\n\n${outlook}`],
    ['that is only part of a company’s name (“PS Consulting”)', 'My answer\n\nKind regards,\nAlice\nPS Consulting'],
    ['that is only a title (“PD Dr.”)', 'My answer\n\nViele Grüße\n\nPD Dr. Anna Müller'],
  ])('the author’s words do not include a postscript %s', async (_, body) =>
    expect((await read(plain, utf8(body))).text).toBe('My answer'),
  );
});

describe('lines that look like a closing', () => {
  it.each([
    'Yours is broken, mine is not',
    'My set:\nLG TV',
    'Regards the fees: what do they cost?',
    'Best do it tomorrow',
    'Saludos\n¿Cuánto cuesta la tarjeta?',
    'Best regards',
    'LG, Anna',
    'Dear Anna,\nregards to your team for the quick work\nand see you',
    `Regards\n${'a line that is much longer than any line that people write below the closing of a letter '.repeat(2)}`,
  ])('a line that only looks like the closing of a letter is kept: %j', async (text) =>
    expect((await read(plain, utf8(text))).text).toBe(text.replace(/\s+$/, '')),
  );
});

describe('lines that look like the beginning of a signature', () => {
  const long = 'a line of a report that the author has put below a line of dashes, longer than a sender’s details';
  it.each([
    ['dashes', 'The error is:\n---\nE1234 failed\n---\nWhat now?'],
    ['a formula', 'Hi Bob,\n\nCheers!\n\nThat worked. But how do I change the address of order 77?'],
    ['the words “Sent from”', 'Hello,\n\nSent from Berlin on Monday, my parcel has not arrived.\nWhere is it?'],
    ['dashes above 25 long lines', `The report:\n---\n${Array.from({ length: 25 }, () => long).join('\n')}`],
    [
      'a double line above eleven short lines',
      `The items:\n====\n${Array.from({ length: 11 }, (_, at) => `item ${at}`).join('\n')}`,
    ],
  ])('text below a line that only looks like the beginning of a signature is kept: %s', async (_, text) => {
    expect((await read(plain, utf8(text))).text).toBe(text);
    expect((await read(plain, utf8(`${text}\n\n-- \nAlice\nAny questions?\n${long}`))).text).toBe(text);
  });

  it.each([
    ['a separator above the sender’s details', '---\nAlice\nDirector\nTel. 030 123456'],
    ['a signature with a question', '-- \nAlice\nAny questions?'],
    ['a program’s line', 'Sent from my iPhone'],
    [
      'the line that Outlook puts above a quoted mail',
      `Get Outlook for iOS\n${'_'.repeat(32)}\nFrom: Bank <a@b.example>\nSent: Sunday\n\nold?\n---\n${long}\n\nPS: older`,
    ],
  ])('the author’s words end above %s', async (_, below) =>
    expect((await read(plain, utf8(`My answer\n\n${below}`))).text).toBe('My answer'),
  );
});

describe('a reply without words', () => {
  const own = '##- Please write your answer above this line. -##\n\nAnna:\nIs it the old card?\n> My question\n\nold';
  const outlook = `From: Bank <a@b.example>\nSent: Sunday, November 22, 2026 10:00 AM\nTo: Alice\nSubject: x\n\n${own}`;
  const line = '_'.repeat(32);
  it.each([
    ['the head of Outlook', outlook],
    ['an empty line above the head', `\n\n${outlook}`],
    ['a line above the head', `\n${line}\n${outlook}`],
    ['a short line above the head', `\n____\n${outlook}`],
    ['the program’s name', `Get Outlook for iOS\n\n${outlook}`],
    ['the program’s name and a line', `Get Outlook for iOS\n${line}\n${outlook}`],
    ['no head', own],
    ['a quoted mail without our marker', '\nFrom: Bank <a@b.example>\nSent: Sunday\n\nold'],
  ])('a quoted mail is not taken for the words of an author who wrote none: %s', async (_, body) =>
    expect((await read(plain, utf8(body))).text).toBe(''),
  );

  it.each(['>', ' >'])('an answer below our mail is read when its lines are quoted with %j', async (mark) => {
    const quotation = own.replace(/^/gm, `${mark} `);
    expect((await read(plain, utf8(`${quotation}\n\nMy answer`))).text).toBe('My answer');
  });
});

describe('a mail in HTML', () => {
  it.each([
    [
      'a preview line with display:none',
      '<div style="color:#fff; DISPLAY : none !important">Preview</div><p>My answer</p>',
    ],
    ['what is marked as hidden', '<p hidden>Preview</p><p>My answer</p>'],
    ['what Outlook hides', '<span style="mso-hide:all">Preview</span><p>My answer</p>'],
    ['what is not visible', '<p style="visibility:hidden">Preview</p><p>My answer</p>'],
    [
      'what a style sheet hides',
      '<style>@media (max-width:1px){.b{display:none}} .a, td.preview { display:none }</style><p class="a">Preview</p><p class="b">My answer</p>',
    ],
  ])('hidden parts of an HTML mail are ignored: %s', async (_, html) => {
    const { text, full_text } = await read('text/html', utf8(html));
    expect([text, full_text]).toEqual(['My answer', 'My answer']);
  });
});

describe('the signing domain of a mail', () => {
  it.each<[string, string[], string]>([
    ['the author’s domain', [found(own), signature('customer.example')], 'customer.example'],
    [
      'a subdomain of the author’s domain',
      [found('dkim=pass header.i=@m.customer.example'), signature('m.customer.example')],
      'm.customer.example',
    ],
    [
      'the domain that the DKIM result names in header.d',
      [found('dkim=pass header.d=customer.example'), signature('Customer.Example')],
      'customer.example',
    ],
    [
      'the domain of a signature whose identity is a person',
      [found('dkim=pass header.i=alice@customer.example'), signature('customer.example', ' i=alice@customer.example;')],
      'customer.example',
    ],
    [
      'the author’s domain beside that of the mail provider',
      [found(`dkim=pass header.i=@esp.example;\r\n ${own}`), signature('esp.example'), signature('customer.example')],
      'customer.example',
    ],
    [
      'the author’s domain beside a signature that broke on the way',
      [
        found(`dkim=fail header.i=@customer.example; ${own}`),
        signature('customer.example'),
        signature('customer.example'),
      ],
      'customer.example',
    ],
  ])('the accepted DKIM signing domain of a mail is %s', async (_, lines, signer) =>
    expect(await signedBy(lines)).toBe(signer),
  );

  it.each<[string, string[]]>([
    ['a mail that nobody signed', [found('dkim=none')]],
    ['a signature that no mail server has checked', [signature('customer.example')]],
    [
      'DKIM results of another mail service',
      [found(own).replace('amazonses.com', 'mx.evil.example'), signature('customer.example')],
    ],
    [
      'DKIM results whose service name stands behind another name',
      [`Authentication-Results: x=y; amazonses.com; ${own}`, signature('customer.example')],
    ],
    [
      'DKIM results that the sender wrote into the mail',
      [found(evil), signature('evil.example'), found(own), signature('customer.example')],
    ],
    ['a signature of another domain', [found(evil), signature('evil.example')]],
    [
      'a signature of a domain with the same ending',
      [found('dkim=pass header.i=@evilcustomer.example'), signature('evilcustomer.example')],
    ],
    [
      'a failed signature beside a valid one of another domain',
      [
        found(`dkim=fail header.i=@customer.example; ${evil}`),
        signature('customer.example'),
        signature('evil.example'),
      ],
    ],
    [
      'a DKIM result in a quoted envelope address',
      [found(evil, '"dkim=pass header.i=@customer.example"@evil.example'), signature('evil.example')],
    ],
    [
      'a DKIM result in a quoted envelope address with a semicolon',
      [
        found(evil, '"; dkim=pass header.i=@customer.example; x="@evil.example'),
        signature('evil.example'),
        signature('customer.example'),
      ],
    ],
    [
      'a DKIM result in a comment',
      [
        found(`${evil} (; dkim=pass header.i=@customer.example;)`),
        signature('evil.example'),
        signature('customer.example'),
      ],
    ],
    ['a DKIM result in the HELO name', [found(evil, 'x@evil.example', `x; ${own}`), signature('evil.example')]],
    [
      'a DKIM result in the HELO name with a forged signature',
      [
        found(`dkim=fail header.i=@customer.example; ${evil}`, 'x@evil.example', `x; ${own}`),
        signature('customer.example'),
        signature('evil.example'),
      ],
    ],
    ['a DKIM result that names no signature', [found('dkim=pass'), signature('customer.example')]],
    ['a signature that names two domains', [found(own), signature('evil.example', ' d=customer.example;')]],
    ['a signature of a public suffix', [found('dkim=pass header.i=@example'), signature('example')]],
    ['an endless list of DKIM results', [`${found(own)} ${'x=y;'.repeat(3_000)}`, signature('customer.example')]],
    [
      'a mail with a hundred signatures',
      [found(own), ...Array.from({ length: 100 }, () => signature('customer.example'))],
    ],
  ])('no DKIM signing domain is accepted for %s', async (_, lines) => expect(await signedBy(lines)).toBe(''));

  it.each<[string, string, boolean]>([
    ['alice@a.co.uk', 'b.co.uk', false],
    ['alice@shop.a.co.uk', 'mail.a.co.uk', true],
    ['alice@one.github.io', 'two.github.io', false],
    ['alice@bücher.example', 'xn--bcher-kva.example', true],
  ])(
    'the DKIM signing domain of a mail must belong to the author’s organization: author %s, signing domain %s (accepted: %s)',
    async (from, domain, aligned) =>
      expect(await signedBy([found(`dkim=pass header.i=@${domain}`), signature(domain)], from)).toBe(
        aligned ? domain : '',
      ),
  );

  it('no DKIM signing domain is accepted for a mail with several authors', async () =>
    expect(await signedBy([found(own), signature('customer.example')], 'alice@customer.example, b@evil.example')).toBe(
      '',
    ));
});

describe('a hostile mail', () => {
  const quick = async (type: string, body: string) => (await files.mail(Readable.from([mailOf(type, body)]))).text;

  it('a mail with 20,000 quoted lines is read', async () => {
    expect(await quick(plain, `My answer\n\n${'> q\n'.repeat(20_000)}`)).toBe('My answer');
  });

  it.each([
    [
      '50,000 parts',
      'multipart/mixed; boundary=b',
      `${'--b\r\nContent-Type: text/plain\r\n\r\nhi\r\n'.repeat(50_000)}--b--`,
    ],
    ['200,000 lines', plain, 'a\n'.repeat(200_000)],
    ['64 kB without a line break', plain, 'x'.repeat(200_000)],
    ['beginnings of quotes', plain, 'On \n'.repeat(20_000)],
    ['dashes', plain, '-'.repeat(100_000)],
    ['a page that is nested deep', 'text/html', '<div>'.repeat(100_000)],
    [
      'parts that are nested deep',
      'multipart/mixed; boundary=b0',
      Array.from(
        { length: 300 },
        (_, at) => `--b${at}\r\nContent-Type: multipart/mixed; boundary=b${at + 1}\r\n\r\n`,
      ).join(''),
    ],
    ['11 MiB', plain, 'x'.repeat(11 * 1024 * 1024)],
    ['nothing', '', ''],
  ])('a hostile mail of %s is read within bounds or refused', async (_, type, body) => {
    const outcome = await quick(type, body).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(Unreadable);
    else expect((outcome as string).length).toBeLessThanOrEqual(64 * 1024);
  });

  it('a mail has at most one author, and no line break in values from its header', async () => {
    const raw = (from: string) =>
      files.mail(Readable.from([Buffer.from(`From: ${from}\r\nSubject: a\r\n\tb\r\n\r\nx`)]));
    expect((await raw('a@x.example, b@x.example')).from.address).toBe('');
    expect((await raw('a@x.example\r\nFrom: b@x.example')).from.address).toBe('');
    expect((await raw('=?utf-8?q?M=C3=BCller?= <a@x.example>')).from).toEqual({
      name: 'Müller',
      address: 'a@x.example',
    });
    expect((await raw('Group: a@x.example, b@x.example;')).from.address).toBe('');
    const { from, subject } = await raw('"Alice\r\n\tBcc: evil@x.example" <a@x.example>');
    expect([from.address, /[\r\n]/.test(from.name + subject)]).toEqual(['a@x.example', false]);
  });
});
