import {
  openReference,
  referencesExpireAt,
  referencesOf,
  type ReplayPage,
} from '../../../../domain/review/browser-sessions/recordings/replay-references.ts';
import { createEncryption } from '../../../../domain/kernel/encryption/encryption.ts';

const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const encryption = createEncryption(key('a', 1));
const page: ReplayPage = { tenantId: 't', sessionId: 's', pageId: '0' };
const ADDRESS = 'https://cdn.example.com/a.m4s?sig=1 2';
const now = new Date('2026-03-02T09:30:00Z');
const referenceTo = (address: string, at = now) =>
  referencesOf(encryption, page, referencesExpireAt(at, 6), [address])[0] ?? '';
const reference = referenceTo(ADDRESS);

test('a reference opens its address for six to seven hours', () => {
  expect(reference).toMatch(/^[\w-]+$/);
  expect(Buffer.from(reference, 'base64url').toString()).not.toContain('example');
  expect(openReference(encryption, page, reference, new Date('2026-03-02T15:59:59Z'))).toBe(ADDRESS);
  expect(openReference(encryption, page, reference, new Date('2026-03-02T16:00:00Z'))).toBeUndefined();
});

test('a playlist that is read again within the hour holds the same references', () => {
  expect(referenceTo(ADDRESS, new Date('2026-03-02T09:59:00Z'))).toBe(reference);
  expect(referenceTo(`${ADDRESS}3`)).not.toBe(reference);
});

test('references to addresses elsewhere and to own files stand in the order of these', () => {
  const addresses = [ADDRESS, 'recording://page/0/a.m4s', `${ADDRESS}3`, 'recording://page/0/b.m4s', ADDRESS];
  const references = referencesOf(encryption, page, referencesExpireAt(now, 6), addresses);
  expect(references.map((each) => openReference(encryption, page, each, now))).toEqual(addresses);
});

test.each([
  ['of another tenant', { ...page, tenantId: 'u' }, reference],
  ['of another session', { ...page, sessionId: 'u' }, reference],
  ['of another page', { ...page, pageId: '1' }, reference],
  ['that is cut', page, reference.slice(0, -4)],
  [
    'with a changed character',
    page,
    `${reference.slice(0, 60)}${reference[60] === 'A' ? 'B' : 'A'}${reference.slice(61)}`,
  ],
  ['that is no reference', page, 'AAAA'],
  ['that is empty', page, ''],
])('a reference %s opens nothing', (_, of, given) => {
  expect(openReference(encryption, of, given, now)).toBeUndefined();
});

const respelled = (change: (sealed: string) => string) =>
  Buffer.from(change(Buffer.from(reference, 'base64url').toString())).toString('base64url');

test.each([
  ['with characters that decoding overlooks', `${reference.slice(0, 8)}!${reference.slice(8)}`],
  ['with an end', `${reference}=`],
  ['in the other alphabet', Buffer.from(reference, 'base64url').toString('base64')],
  ['with other bits that decoding drops', `${reference.slice(0, -1)}${nextLetter(reference.at(-1))}`],
  ['with such an end within', respelled((sealed) => `${sealed}=`)],
  ['with more behind', respelled((sealed) => `${sealed}.more`)],
])('a reference %s opens nothing: it has one spelling', (_, given) => {
  expect(given).not.toBe(reference);
  expect(openReference(encryption, page, given, now)).toBeUndefined();
});

function nextLetter(letter = ''): string {
  return String.fromCharCode(letter.charCodeAt(0) + 1);
}

test('a reference works on while keys are rotated', () => {
  const rotated = createEncryption(`${key('b', 2)},${key('a', 1)}`);
  expect(openReference(rotated, page, reference, now)).toBe(ADDRESS);
});

test('files of our own recordings share one grant of their page, which is for nothing else', () => {
  const own = (name: string) => `recording://page/0/${name}`;
  let sealed = 0;
  const counted = {
    ...encryption,
    encryptStably: (plain: string, context: string) => {
      sealed++;
      return encryption.encryptStably(plain, context);
    },
  };
  const names = Array.from({ length: 2_000 }, (_, number) => `segment-${number}.m4s`);
  const references = referencesOf(counted, page, referencesExpireAt(now, 6), names.map(own));
  expect(sealed).toBe(1);
  expect(new Set(references).size).toBe(2_000);
  expect(references.map((each) => openReference(encryption, page, each, now))).toEqual(names.map(own));

  const [first = ''] = references;
  expect(openReference(encryption, page, first, new Date('2026-03-02T16:00:00Z'))).toBeUndefined();
  for (const other of [{ tenantId: 'u' }, { sessionId: 'u' }, { pageId: '1' }])
    expect(openReference(encryption, { ...page, ...other }, first, now)).toBeUndefined();
  const [grant = ''] = first.split('~');
  const [, name = ''] = first.split('~');
  const elsewhere = Buffer.from('../1/a.m4s').toString('base64url');
  const altered = [
    grant,
    `${grant}~`,
    `${grant}~${elsewhere}`,
    `${first}~`,
    `${first}=`,
    `${grant}=~${name}`,
    `${reference}~${name}`,
  ];
  for (const each of [...altered, Buffer.from(grant).toString('base64url')])
    expect(openReference(encryption, page, each, now)).toBeUndefined();
  // The address of another page is not covered by the grant of this one.
  expect(referenceTo('recording://page/1/a.m4s')).not.toContain('~');
});
