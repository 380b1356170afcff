import { createEncryption } from '../../../../domain/kernel/encryption/encryption.ts';

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;

test('what is encrypted comes back, and no two encryptions look alike', () => {
  const { encrypt, decrypt } = createEncryption(key('a', 1));
  expect(decrypt(encrypt('secret', 'row 1'), 'row 1')).toBe('secret');
  expect(encrypt('secret', 'row 1')).not.toBe(encrypt('secret', 'row 1'));
});

test('a value of an older key is still read, and new ones take the first key', () => {
  const old = createEncryption(key('old', 1)).encrypt('secret', 'row');
  const { decrypt, encrypt } = createEncryption(`${key('new', 2)},${key('old', 1)}`);
  expect(decrypt(old, 'row')).toBe('secret');
  expect(encrypt('x', 'row')).toMatch(/^v1\.new\./);
});

test.each([
  ['moved to another row', (value: string) => value, 'row 2'],
  ['changed', (value: string) => `${value.slice(0, -6)}AAAAAA`, 'row 1'],
  ['cut short', (value: string) => value.slice(0, 30), 'row 1'],
  ['of an unknown key', (value: string) => value.replace('v1.a.', 'v1.b.'), 'row 1'],
])('a value that was %s is refused', (_, tamper, context) => {
  const { encrypt, decrypt } = createEncryption(key('a', 1));
  expect(() => decrypt(tamper(encrypt('secret', 'row 1')), context)).toThrow();
});

test.each(['', 'a', 'a:short', ':AAAA'])('a malformed key %p is refused', (keys) => {
  expect(() => createEncryption(keys)).toThrow('<id>:<base64 of 32 bytes>');
});

describe('values that are encrypted together', () => {
  const encryption = createEncryption(`a:${Buffer.alloc(32, 1).toString('base64')}`);
  const nonceOf = (sealed = '') => Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('hex', 0, 12);

  test('are what each was, and the same again for the same ones alone', () => {
    const plains = ['one', 'two', '', 'one'];
    const sealed = encryption.encryptAllStably(plains, 'context');
    expect(sealed.map((each) => encryption.decrypt(each, 'context'))).toEqual(plains);
    expect(encryption.encryptAllStably(plains, 'context')).toEqual(sealed);
    expect(() => encryption.decrypt(sealed[0] ?? '', 'another')).toThrow();
  });

  test.each([
    ['another value', ['one', 'too'], 'context'],
    ['one more', ['one', 'two', 'three'], 'context'],
    ['the same letters divided otherwise', ['on', 'etwo'], 'context'],
    ['another order', ['two', 'one'], 'context'],
    ['another context', ['one', 'two'], 'other'],
  ])('share no nonce with those of %s', (_, plains, context) => {
    const used = ['one', 'two'];
    const nonces = encryption.encryptAllStably(used, 'context').map(nonceOf);
    expect(new Set(nonces).size).toBe(2);
    for (const each of encryption.encryptAllStably(plains, context)) expect(nonces).not.toContain(nonceOf(each));
  });
});
