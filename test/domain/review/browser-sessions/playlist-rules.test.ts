import {
  completed,
  isPlaylist,
  rewritePlaylist,
} from '../../../../domain/review/browser-sessions/recordings/playlist-rules.ts';
import type { DomainError } from '../../../../domain/kernel/shared/errors.ts';

const BASE = 'https://cdn.example.com/sessions/1/pages/0/playlist.m3u8?sig=abc';
const rewrite = (playlist: string | Buffer) =>
  rewritePlaylist(Buffer.from(playlist as string), BASE, (addresses) =>
    addresses.map((address) => `<${address}>`),
  ).toString();

test.each([
  ['part-1.m4s', '<https://cdn.example.com/sessions/1/pages/0/part-1.m4s>'],
  ['../1/part.m4s?x=1', '<https://cdn.example.com/sessions/1/pages/1/part.m4s?x=1>'],
  ['//other.example.com/a.ts', '<https://other.example.com/a.ts>'],
  ['http://127.0.0.1/a.ts', '<http://127.0.0.1/a.ts>'],
  ['file:///etc/passwd', '<file:///etc/passwd>'],
  ['part à', '<https://cdn.example.com/sessions/1/pages/0/part%20%C3%A0>'],
  ['data:video/mp4;base64,AAAA', 'data:video/mp4;base64,AAAA'],
  ['http://[', 'http://['],
  ['#EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"', ['init.mp4', ',BYTERANGE="720@0"']],
  ['#EXT-X-KEY:METHOD=AES-128,URI="k?a=1,b",IV=0x1', ['k?a=1,b', ',IV=0x1']],
  ['#EXT-X-SESSION-KEY:METHOD=AES-128,URI="k"', ['k', '']],
  ['#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="URI=x",URI="a.m3u8"', ['a.m3u8', '']],
  ['#EXT-X-PART:DURATION=0.5,URI="p.m4s"', ['p.m4s', '']],
  ['#EXT-X-PRELOAD-HINT:TYPE=PART,URI="q.m4s"', ['q.m4s', '']],
  ['#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"', ['i.m3u8', '']],
  ['#EXT-X-SESSION-DATA:DATA-ID="x",URI="d.json"', ['d.json', '']],
  ['#EXT-X-RENDITION-REPORT:URI="r.m3u8",LAST-MSN=3', ['r.m3u8', ',LAST-MSN=3']],
  ['#EXT-X-CONTENT-STEERING:SERVER-URI="s.json",PATHWAY-ID="a"', ['s.json', ',PATHWAY-ID="a"']],
])('%s', (line, expected) => {
  const [address, rest] = typeof expected === 'string' ? [undefined, expected] : expected;
  const written =
    address === undefined
      ? rest
      : line.replace(`URI="${address}"${rest}`, `URI="<https://cdn.example.com/sessions/1/pages/0/${address}>"${rest}`);
  expect(rewrite(line)).toBe(written);
});

test('addresses of a date range are replaced wherever they are, other attributes are not', () => {
  expect(rewrite('#EXT-X-DATERANGE:ID="a",X-ASSET-URI="https://ads.example.com/x.m3u8",X-NOTE="plain"')).toBe(
    '#EXT-X-DATERANGE:ID="a",X-ASSET-URI="<https://ads.example.com/x.m3u8>",X-NOTE="plain"',
  );
});

test('variables are filled in, as no reader can fill them into a reference', () => {
  expect(rewrite('#EXTM3U\n#EXT-X-DEFINE:NAME="host",VALUE="https://b.example.com"\n{$host}/{$other}.ts')).toContain(
    '\n<https://b.example.com/%7B$other%7D.ts>',
  );
});

test('line ends, blank lines, comments, unknown tags and bytes that are not UTF-8 stay', () => {
  const lines = ['\ufeff#EXTM3U\r', '', '# a comment: https://x.example.com', '#EXT-X-OTHER:URI="x"', '#EXTINF:4.0,à'];
  const playlist = Buffer.concat([Buffer.from(lines.join('\n')), Buffer.from([10, 35, 0xff, 0xfe, 13, 10, 10])]);
  expect(rewritePlaylist(playlist, BASE, (addresses) => addresses.map(() => 'x'))).toEqual(playlist);
  expect(rewrite('#EXTINF:1,\r\na.ts  \r\n')).toBe(
    '#EXTINF:1,\r\n<https://cdn.example.com/sessions/1/pages/0/a.ts>  \r\n',
  );
});

const refused = (body: string) => {
  try {
    return rewrite(body);
  } catch (error) {
    return (error as DomainError).code;
  }
};

test.each([
  ['more addresses than an hour has segments', 'a\n'.repeat(200_000)],
  ['a long address', `https://cdn.example.com/${'a'.repeat(9_000)}`],
  [
    'a variable whose value stands in an address again and again',
    `#EXT-X-DEFINE:NAME="a",VALUE="${'a'.repeat(5_000)}"\n${'{$a}'.repeat(2_000)}`,
  ],
])('%s: refused', (_, body) => {
  expect(refused(`#EXTM3U\n${body}`)).toBe('upstream_error');
});

test.each([
  ['a name without end', `#EXT-X-DATERANGE:${'A'.repeat(2_000_000)}`],
  ['names and quotes without end', `#EXT-X-DATERANGE:${'A="'.repeat(500_000)}`],
  ['variables without end', `#EXTM3U\n${'{$a'.repeat(2_000)}`],
])('%s: read in linear time', (_, body) => {
  const times = [0, 1, 2].map(() => {
    const before = process.threadCpuUsage();
    refused(body);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(Math.min(...times)).toBeLessThan(1_000);
});

test('a playlist that its writer left open is ended once', () => {
  expect(completed(Buffer.from('#EXTM3U\na.ts')).toString()).toBe('#EXTM3U\na.ts\n#EXT-X-ENDLIST\n');
  const whole = Buffer.from('#EXTM3U\na.ts\n#EXT-X-ENDLIST\n');
  expect(completed(whole)).toEqual(whole);
});

test.each([
  ['#EXTM3U\n', true],
  ['\ufeff#EXTM3U', true],
  [' #EXTM3U', false],
  ['<html>', false],
])('%j is a playlist: %s', (body, expected) => {
  expect(isPlaylist(Buffer.from(body))).toBe(expected);
});
