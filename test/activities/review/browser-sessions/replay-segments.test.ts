import { createReplaySegments } from '../../../../activities/adapters/browserbase/replay-segments.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import {
  type BrowserbaseSimulator,
  browserbaseSimulator,
  type CdnFile,
} from '../../../simulators/browserbase/simulator.ts';

const signal = new AbortController().signal;
const segments = createReplaySegments(outboundAddresses('127.0.0.0/8'), { maxBytes: 10_000, idleMs: 300 });
let simulator: BrowserbaseSimulator;

beforeAll(async () => {
  simulator = await browserbaseSimulator();
});
afterAll(async () => {
  await segments.close();
  await simulator.close();
});

const serve = (file: CdnFile) => {
  simulator.serve('/file', file);
  return segments.fetch(`${simulator.cdnUrl}/file`, null, signal);
};
const video = { 'content-type': 'video/mp4' };
async function bodyOf(answer: Awaited<ReturnType<typeof segments.fetch>>): Promise<string> {
  if (!answer.isOk) throw new Error(answer.message);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.value.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('a segment comes whole', async () => {
  const answer = await segments.fetch(`${simulator.cdnUrl}/a.m4s?Signature=abc`, null, signal);
  expect(answer).toMatchObject({ value: { status: 200, contentType: 'video/mp4', length: 700, range: null } });
  expect(await bodyOf(answer)).toHaveLength(700);
});

test('a range of it, and one that it does not have', async () => {
  const part = await segments.fetch(`${simulator.cdnUrl}/a.m4s`, 'bytes=1-3', signal);
  expect(part).toMatchObject({ value: { status: 206, length: 3, range: 'bytes 1-3/700' } });
  expect(await bodyOf(part)).toBe('a.m');
  const beyond = await segments.fetch(`${simulator.cdnUrl}/a.m4s`, 'bytes=700-', signal);
  expect(beyond).toMatchObject({ value: { status: 416, range: 'bytes */700' } });
});

test.each(['video/mp4', 'audio/aac', 'application/vnd.apple.mpegurl; charset=utf-8', 'application/octet-stream'])(
  '%s passes',
  async (type) => {
    expect(await serve((_, response) => response.writeHead(200, { 'content-type': type }).end('x'))).toMatchObject({
      isOk: true,
    });
  },
);

test.each(['text/html', 'image/svg+xml', 'application/json', 'text/javascript', 'video/mp4x html'])(
  '%s does not',
  async (type) => {
    expect(await serve((_, response) => response.writeHead(200, { 'content-type': type }).end('x'))).toMatchObject({
      isOk: false,
      kind: 'rejected',
    });
  },
);

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/a.ts',
  'http://2130706433:1/a.ts',
  'file:///etc/passwd',
  'ftp://example.com/a.ts',
])('%s is not fetched', async (address) => {
  const strict = createReplaySegments(outboundAddresses(''));
  expect(await strict.fetch(address, null, signal)).toMatchObject({ isOk: false, kind: 'rejected' });
  await strict.close();
});

test('a redirect is followed to where a segment may be, and nowhere else', async () => {
  const redirect = (location: string) => serve((_, response) => response.writeHead(302, { location }).end());
  expect(await bodyOf(await redirect('/elsewhere.m4s'))).toContain('/elsewhere.m4s');
  expect(await redirect('http://169.254.169.254/latest/')).toMatchObject({ isOk: false, kind: 'rejected' });
  expect(await redirect('file:///etc/passwd')).toMatchObject({ isOk: false, kind: 'rejected' });
  expect(await redirect('/file')).toMatchObject({ isOk: false, kind: 'rejected' });
});

test('one that is larger than announced, endless, or never begins', async () => {
  const announced = await serve((_, response) => response.writeHead(200, { ...video, 'content-length': 10_001 }).end());
  expect(announced).toMatchObject({ isOk: false, kind: 'rejected' });
  const endless = await serve((_, response) => {
    response.writeHead(200, video);
    const timer = setInterval(() => response.write('x'.repeat(4_000)), 1);
    response.on('close', () => clearInterval(timer));
  });
  await expect(bodyOf(endless)).rejects.toThrow('larger than 10000 bytes');
  expect(await serve(() => undefined)).toMatchObject({ isOk: false, kind: 'unavailable' });
});

test.each([
  [404, 'not_found'],
  [403, 'not_found'],
  [500, 'unavailable'],
])('status %i is %s', async (status, kind) => {
  expect(await serve((_, response) => response.writeHead(status, video).end())).toMatchObject({ isOk: false, kind });
});
