import { isSameRecipient } from '../../../../domain/kernel/outbound/recipient-rules.ts';

const BEFORE = 'https://hooks.example.com/a/b?team=1';

test.each([
  ['https://hooks.example.com/a/b?team=1', true, true],
  ['https://HOOKS.example.com:443/a/./b?team=1', true, true],
  ['https://hooks.example.com/a/b?team=1#part', true, true],
  ['https:\\\\hooks.example.com/a/b?team=1', true, true],
  ['https://hooks.example.com/a/b', true, false],
  ['https://hooks.example.com/a/b?team=2', true, false],
  ['https://hooks.example.com/a/c?team=1', true, false],
  ['https://hooks.example.com/A/b?team=1', true, false],
  ['https://hooks.example.com/a/../b?team=1', true, false],
  ['http://hooks.example.com/a/b?team=1', false, false],
  ['https://hooks.example.com:8443/a/b?team=1', false, false],
  ['https://hooks.example.com./a/b?team=1', false, false],
  ['https://example.com/a/b?team=1', false, false],
  ['https://x.hooks.example.com/a/b?team=1', false, false],
  ['https://hooks.example.com@evil.example/a/b?team=1', false, false],
  ['https://hooks.example.com.evil.example/a/b?team=1', false, false],
  ['https://hооks.example.com/a/b?team=1', false, false],
  ['nonsense', false, false],
  [null, false, false],
])('%s: of the same origin %s, the same address %s', (after, isSameOrigin, isSameAddress) => {
  expect(isSameRecipient(BEFORE, after, 'origin')).toBe(isSameOrigin);
  expect(isSameRecipient(BEFORE, after, 'address')).toBe(isSameAddress);
});

test('the public service of a system is the same recipient as itself alone', () => {
  expect(isSameRecipient(null, null, 'origin')).toBe(true);
  expect(isSameRecipient(null, BEFORE, 'origin')).toBe(false);
});
