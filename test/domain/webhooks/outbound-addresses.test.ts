import { outboundAddresses } from '../../../domain/webhooks/outbound-addresses.ts';

const strict = outboundAddresses('');
const development = outboundAddresses('127.0.0.0/8,::1/128');

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://0.0.0.0/',
  'http://0/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://[ff02::1]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://100.64.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://198.18.0.1/',
  'http://１２７.0.0.1/',
  'http://127.0.0.1./',
  'ftp://example.com/',
  'file:///etc/passwd',
  'http://user:secret@example.com/',
  'nonsense',
])('refused where nothing is opened: %s', (url) => {
  expect(strict.refusedUrl(url)).toEqual(expect.any(String));
});

test.each([
  'https://example.com/hook',
  'http://93.184.216.34:8080/',
  'https://[2606:2800:220:1::1]/',
  'http://localhost.example.com/',
])('allowed: %s', (url) => {
  expect(strict.refusedUrl(url)).toBeUndefined();
});

test('ranges that are opened are allowed, in every spelling', () => {
  for (const url of [
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
  ]) {
    expect(development.refusedUrl(url)).toBeUndefined();
  }
  expect(development.refusedUrl('http://10.0.0.1/')).toMatch('10.0.0.1');
  expect(development.refusedUrl('http://0.0.0.0/')).toMatch('0.0.0.0');
});

test('what a name resolved to is judged by the same rules', () => {
  expect(strict.refusedIp('93.184.216.34')).toBeUndefined();
  expect(strict.refusedIp('::ffff:10.0.0.1')).toMatch('10.0.0.1');
  expect(strict.refusedIp('not an address')).toEqual(expect.any(String));
});

test('a malformed range stops the start', () => {
  expect(() => outboundAddresses('10.0.0.0/8, 300.0.0.0/8')).toThrow('300.0.0.0/8');
});
