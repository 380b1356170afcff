import {
  openReference,
  referencesExpireAt,
  referenceTo,
  type ReplayPage,
} from '../../../domain/browser-sessions/replay-references.ts';
import { createEncryption } from '../../../domain/shared/encryption.ts';

const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const encryption = createEncryption(key('a', 1));
const page: ReplayPage = { tenantId: 't', sessionId: 's', pageId: '0' };
const ADDRESS = 'https://cdn.example.com/a.m4s?sig=1 2';
const now = new Date('2026-03-02T09:30:00Z');
const reference = referenceTo(encryption, page, ADDRESS, referencesExpireAt(now, 6));

test('a reference opens its address for six to seven hours', () => {
  expect(reference).toMatch(/^[\w-]+$/);
  expect(Buffer.from(reference, 'base64url').toString()).not.toContain('example');
  expect(openReference(encryption, page, reference, new Date('2026-03-02T15:59:59Z'))).toBe(ADDRESS);
  expect(openReference(encryption, page, reference, new Date('2026-03-02T16:00:00Z'))).toBeUndefined();
});

test('a playlist that is read again within the hour holds the same references', () => {
  expect(referenceTo(encryption, page, ADDRESS, referencesExpireAt(new Date('2026-03-02T09:59:00Z'), 6))).toBe(
    reference,
  );
  expect(referenceTo(encryption, page, `${ADDRESS}3`, referencesExpireAt(now, 6))).not.toBe(reference);
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
