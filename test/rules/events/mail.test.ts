import { describe, expect, it } from '@jest/globals';
import { createSecretBox } from '../../../models/base/secretbox.ts';
import { newTokenId, readToken, tokenOf } from '../../../models/events/replytoken.ts';
import { nameOf, readAddress, readMailbox } from '../../../models/rules/access/mailbox.ts';
import {
  automaticReason,
  distrust,
  type MailHead,
  type MailReason,
  type Verdicts,
} from '../../../models/rules/events/mailin.ts';
import {
  automaticWaitMs,
  mailSubject,
  mailText,
  markerLine,
  messageIdsIn,
  referencesOf,
} from '../../../models/rules/events/mailout.ts';
import { framed } from '../../../models/rules/events/outsidemail.ts';
import { maxTokenLength, replyAddress, replySeparators, tokensIn } from '../../../models/rules/events/replyaddress.ts';
import { readSmtpUrl } from '../../../providers/mail/rules.ts';
import { languages } from '../../../models/rules/language/language.ts';

describe('readMailbox', () => {
  it.each([
    ['a@b.example', { name: '', address: 'a@b.example' }],
    ['Bank <Support@B.example>', { name: 'Bank', address: 'support@b.example' }],
    ['"Bank, the" <a@b.example>', { name: 'Bank the', address: 'a@b.example' }],
    ['<a@b.example>', { name: '', address: 'a@b.example' }],
  ])('readMailbox parses %s into the name and address %j', (text, mailbox) =>
    expect(readMailbox(text)).toEqual(mailbox),
  );

  it.each([
    '',
    'Bank',
    'a@b.example, c@d.example',
    'A <a@b.example>, C <c@d.example>',
    'A <a@b.example> C',
    'a@b.example\r\nBcc: c@d.example',
    'A\nBcc: c@d.example <a@b.example>',
    `${'x'.repeat(65)}@b.example`,
    'a@b..example',
    '@b.example',
    `A <a@b.example\u2028>`,
  ])('readMailbox refuses %j', (text) => expect(readMailbox(text)).toBeUndefined());

  it('nameOf removes address characters, line breaks and text-direction marks from a display name', () =>
    expect(nameOf(' An\r\nna <x@y>,\u202e "Q" ')).toBe('An na x y Q'));

  it('a mail address has at most 64 characters before the @', () => {
    expect(readAddress(`${'x'.repeat(64)}@b.example`)).toBeDefined();
    expect(readAddress(`${'x'.repeat(65)}@b.example`)).toBeUndefined();
  });
});

describe('reply addresses', () => {
  const key = createSecretBox([Buffer.alloc(32, 1)]);

  it('a reply token in a mail address is read in any letter case and fits before the @', () => {
    for (let at = 0; at < 100; at += 1) {
      const id = newTokenId();
      const token = tokenOf(key, id);
      const address = replyAddress(token, 'reply.example');
      expect(token.length).toBeLessThanOrEqual(maxTokenLength);
      expect(readAddress(address)).toBe(address);
      const others = replySeparators.map((separator) => address.replace('+', separator));
      expect(new Set(others).size).toBe(replySeparators.length);
      for (const written of [address, address.toUpperCase(), ...others])
        expect(tokensIn([written], 'Reply.example').map((one) => readToken(key, one))).toEqual([id]);
    }
  });

  it('a reply token with a changed character or of another key is refused', () => {
    const token = tokenOf(key, newTokenId());
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'a' ? 'b' : 'a';
      expect(readToken(key, token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined();
    }
    expect(readToken(createSecretBox([Buffer.alloc(32, 2)]), token)).toBeUndefined();
    for (const text of ['', 'a', token.slice(1), `${token}a`, `${token}zz`, `${token.slice(2)}zz`, 'a'.repeat(10_000)])
      expect(readToken(key, text)).toBeUndefined();
  });

  it.each([
    ['reply+abc@other.example'],
    ['abc@reply.example'],
    ['reply+@reply.example'],
    ['reply@reply.example'],
    [`reply+${'a'.repeat(59)}@reply.example`],
    [''],
    ['@reply.example'],
  ])('the address %s contains no reply token', (recipient) =>
    expect(tokensIn([recipient], 'reply.example')).toEqual([]),
  );
});

describe('outgoing mail', () => {
  it.each(languages)(
    'a mail in language %s names the sender and the sources of each message, and says how to reply',
    (language) => {
      const told = [
        { sender: 'Anna', body: ' Hello.\n', sources: [] },
        {
          sender: 'Bank (AI)',
          body: 'Seven euros.',
          sources: [{ name: 'fees.md' }, { name: 'Fees', url: 'https://b.example' }],
        },
      ];
      const text = mailText(told, 'Bank', language, true);
      expect(text).toMatch(markerLine);
      expect(text).toContain('\nAnna:\nHello.\n\nBank (AI):\nSeven euros.\n');
      expect(text).toContain('- fees.md\n- Fees https://b.example\n');
      expect(mailText(told, 'Bank', language, false)).not.toMatch(markerLine);
    },
  );

  it.each([
    [undefined, 'Answer from Bank'],
    ['', 'Answer from Bank'],
    ['Card', 'Re: Card'],
    ['Re: AW: re[2]: Card', 'Re: Card'],
    ['Card\r\nBcc: x@y', 'Re: Card Bcc: x@y'],
    ['RE:', 'Answer from Bank'],
  ])('a reply to a mail with the subject %j has the subject %j', (given, subject) =>
    expect(mailSubject(given, 'Bank', 'en')).toBe(subject),
  );

  it('the footer of a mail to an outsider is written in the language of the mail', () => {
    const about = {
      organization: 'Bank',
      host: 'bank.example',
      link: 'https://bank.example/stop',
      why: 'reply',
      reach: 'all',
    } as const;
    const footers = languages.map((language) => framed('x', { ...about, language }));
    expect(new Set(footers.map((text) => text.split('\n')[3])).size).toBe(languages.length);
    expect(new Set(footers.map((text) => text.split('\n')[4])).size).toBe(languages.length);
    for (const text of footers) expect(text).toMatch(/“Bank”.*bank\.example.*\n.*“Bank”.*bank\.example.*:\nhttps:/u);
    for (const language of languages) {
      // If the link stops only the organization, the footer offers nothing more.
      const one = framed('x', { ...about, reach: 'organization', language }).split('\n')[4]!;
      expect(one).toMatch(/“Bank”.*:$/u);
      expect(one).not.toContain('bank.example');
    }
    expect(framed('x', { ...about, language: 'de' })).toContain('“Bank” sendet Ihnen dies über bank.example, weil');
    expect(framed('x', { ...about, why: 'task', language: 'en' })).toContain('because somebody there entered');
  });

  it('the References header names the first mail and the newest ten, and stays within 2 kB', () => {
    const ids = Array.from({ length: 30 }, (_, at) => `<${at}@x>`);
    expect(referencesOf(ids)).toEqual([ids[0], ...ids.slice(-10)]);
    expect(referencesOf([])).toEqual([]);
    const long = ids.map((id) => `<${'y'.repeat(240)}${id.slice(1)}`);
    expect(referencesOf(long).join(' ').length).toBeLessThanOrEqual(2_000);
    expect(referencesOf(long)[0]).toBe(long[0]);
  });

  it('messageIdsIn finds each message id in a header, whatever other text the header contains', () => {
    expect(messageIdsIn('<a@b>\r\n\t<c@d> (note) <a@b>')).toEqual(['<a@b>', '<c@d>']);
    expect(messageIdsIn('nothing <with space@x> <>')).toEqual([]);
    expect(messageIdsIn(undefined)).toEqual([]);
  });

  it('the agent sends at most three mails an hour to one customer', () => {
    const now = new Date('2026-01-01T12:00:00Z');
    const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
    expect(automaticWaitMs([ago(1), ago(2)], now)).toBe(0);
    expect(automaticWaitMs([ago(1), ago(2), ago(61)], now)).toBe(0);
    expect(automaticWaitMs([ago(10), ago(50), ago(20)], now)).toBe(10 * 60_000);
    expect(automaticWaitMs([ago(10), ago(50), ago(20), ago(5)], now)).toBe(40 * 60_000);
  });
});

describe('incoming mail', () => {
  const person: MailHead = {
    headers: [],
    from: 'alice@customer.example',
    envelopeFrom: 'alice@customer.example',
    subject: 'Re: Card',
    own: { addresses: ['support@bank.example'], replyDomain: 'reply.example' },
  };
  const with_ = (name: string, value: string): Partial<MailHead> => ({ headers: [[name, value]] });
  it.each<[string, Partial<MailHead>, MailReason | undefined]>([
    ['of a person', {}, undefined],
    ['Auto-Submitted: no', with_('auto-submitted', 'No'), undefined],
    ['Auto-Submitted: no; why', with_('auto-submitted', 'no; why'), undefined],
    ['Auto-Submitted: auto-replied', with_('auto-submitted', 'auto-replied; owner="x"'), 'automatic'],
    ['Auto-Submitted: auto-generated', with_('auto-submitted', 'auto-generated'), 'automatic'],
    ['Precedence: bulk', with_('precedence', 'Bulk'), 'automatic'],
    ['Precedence: first-class', with_('precedence', 'first-class'), undefined],
    ['X-Autoreply', with_('x-autoreply', 'yes'), 'automatic'],
    ['X-Autorespond', with_('x-autorespond', ''), 'automatic'],
    ['X-Auto-Reply', with_('x-auto-reply', 'x'), 'automatic'],
    ['List-Id', with_('list-id', '<x.example>'), 'mailing_list'],
    ['List-Unsubscribe', with_('list-unsubscribe', '<https://x.example>'), 'mailing_list'],
    ['X-Failed-Recipients', with_('x-failed-recipients', 'x@y'), 'bounce'],
    ['Return-Path: <>', with_('return-path', '<>'), 'bounce'],
    ['without an envelope sender', { envelopeFrom: '' }, 'bounce'],
    ['of postmaster', { from: 'postmaster@x.example' }, 'bounce'],
    ['of MAILER-DAEMON in the envelope', { envelopeFrom: 'MAILER-DAEMON@x.example' }, 'bounce'],
    ['a delivery status', with_('content-type', 'multipart/report; report-type=delivery-status'), 'bounce'],
    ['a receipt', with_('content-type', 'multipart/report; report-type="disposition-notification"'), 'receipt'],
    ['another report', with_('content-type', 'multipart/report; report-type=feedback-report'), 'automatic'],
    ['with our mark', with_('x-support-platform-loop', 'conv_1'), 'own_mail'],
    ['from our address', { from: 'support@bank.example' }, 'own_mail'],
    ['from a reply address', { from: 'reply+abc@reply.example' }, 'own_mail'],
    ['from our domain', { from: 'anna@reply.example' }, undefined],
    ['out of office', { subject: 'Automatic reply: Re: Card' }, 'automatic'],
    ['abwesend', { subject: 'Automatische Antwort: Re: Card' }, 'automatic'],
    ['absent', { subject: 'Réponse automatique : Re: Card' }, 'automatic'],
    ['about automatic replies', { subject: 'Do you send an automatic reply: yes or no?' }, undefined],
  ])('an incoming mail (%s) with %j is classified as %s (undefined: written by a person)', (_, head, reason) =>
    expect(automaticReason({ ...person, ...head })).toBe(reason),
  );

  const trusted: Verdicts = { spam: 'PASS', virus: 'PASS', dkim: 'PASS', dmarc: 'PASS' };
  it.each<[string, Verdicts, string, MailReason | undefined]>([
    ['all pass', trusted, '', undefined],
    ['only DMARC', { dmarc: 'PASS', dkim: 'FAIL' }, '', undefined],
    ['only DKIM, of the sender', { dkim: 'PASS', dmarc: 'GRAY' }, 'customer.example', undefined],
    ['only DKIM, DMARC not known', { dkim: 'PASS', dmarc: 'PROCESSING_FAILED' }, 'customer.example', undefined],
    ['only DKIM, of nobody who is seen', { dkim: 'PASS', dmarc: 'GRAY' }, '', 'unverified_sender'],
    ['a signature that SES did not confirm', { dkim: 'GRAY' }, 'customer.example', 'unverified_sender'],
    ['DMARC fails', { ...trusted, dmarc: 'FAIL' }, 'customer.example', 'unverified_sender'],
    ['DKIM fails', { dkim: 'FAIL', dmarc: 'GRAY' }, 'customer.example', 'unverified_sender'],
    ['nothing is known', {}, '', 'unverified_sender'],
    ['spam', { ...trusted, spam: 'FAIL' }, '', 'spam'],
    ['a virus', { ...trusted, spam: 'FAIL', virus: 'FAIL' }, '', 'virus'],
    ['spam not looked for', { ...trusted, spam: 'DISABLED', virus: 'PROCESSING_FAILED' }, '', undefined],
  ])(
    'an incoming mail (%s) with the verdicts %j, signed by “%s”, is distrusted because of %s (undefined: it is trusted)',
    (_, verdicts, signedBy, reason) => expect(distrust(verdicts, signedBy)).toBe(reason),
  );
});

describe('readSmtpUrl', () => {
  it.each([
    ['smtp://mail.example', { secure: false, host: 'mail.example', port: 587 }],
    ['smtps://u%40x:p%2F@Mail.example', { secure: true, host: 'mail.example', port: 465, user: 'u@x', password: 'p/' }],
    ['smtp://[::1]:25/', { secure: false, host: '::1', port: 25 }],
  ])('readSmtpUrl parses %s into the server and credentials %j', (text, server) =>
    expect(readSmtpUrl(text)).toEqual(server),
  );

  it.each([
    '',
    'mail.example',
    'http://mail.example',
    'smtp://',
    'smtp://mail.example?tls.rejectUnauthorized=false',
    'smtp://mail.example/path',
    'smtp://mail.example#x',
    'smtp://user@mail.example',
    'smtp://:p@mail.example',
    'smtp://u:%ZZ@mail.example',
    'smtp://mail.example:0',
  ])('readSmtpUrl refuses %j', (text) => expect(readSmtpUrl(text)).toBeUndefined());
});
