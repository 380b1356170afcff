import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { type Bodies, createReadBytes } from '../../../api/http/server/read-bytes.ts';

const KB = 1_024;
const LIMIT = 100 * KB;

/** A body of which the sender holds back the end. */
function slowBody({ readBytes }: Bodies, bytes: number, response = {} as ServerResponse) {
  const request = Object.assign(new PassThrough(), { headers: {}, httpVersion: '1.1' });
  const received = readBytes(request as unknown as IncomingMessage, response, LIMIT);
  received.catch(() => undefined);
  request.write(Buffer.alloc(bytes));
  return { request, received };
}

test('slow bodies of one holder leave room for those of others, and take none when they have ended', async () => {
  const bodiesOf = createReadBytes(400 * KB, 200 * KB);
  const held = [slowBody(bodiesOf('a'), 90 * KB), slowBody(bodiesOf('a'), 90 * KB)];
  await expect(slowBody(bodiesOf('a'), 90 * KB).received).rejects.toMatchObject({ code: 'unavailable' });
  const other = slowBody(bodiesOf('b'), 90 * KB);
  other.request.end();
  expect((await other.received).length).toBe(90 * KB);
  for (const { request, received } of held) {
    request.destroy();
    await expect(received).rejects.toMatchObject({ code: 'invalid_request' });
  }
  const again = slowBody(bodiesOf('a'), 90 * KB);
  again.request.end();
  expect((await again.received).length).toBe(90 * KB);
});

test('the bodies of all holders together have a limit, too', async () => {
  const bodiesOf = createReadBytes(200 * KB, 150 * KB);
  slowBody(bodiesOf('a'), 90 * KB);
  slowBody(bodiesOf('b'), 90 * KB);
  await expect(slowBody(bodiesOf('c'), 90 * KB).received).rejects.toMatchObject({ code: 'unavailable' });
});

test('bodies that are read while they arrive count until their reply is done', async () => {
  const bodiesOf = createReadBytes(200 * KB, 150 * KB);
  const reply = new EventEmitter();
  const count = bodiesOf('a').counted(reply as ServerResponse);
  count(90 * KB);
  count(50 * KB);
  expect(() => count(20 * KB)).toThrow('Too many large bodies');
  await expect(slowBody(bodiesOf('b'), 90 * KB).received).rejects.toMatchObject({ code: 'unavailable' });
  reply.emit('close');
  const later = slowBody(bodiesOf('a'), 90 * KB);
  later.request.end();
  expect((await later.received).length).toBe(90 * KB);
});

test('a large body counts until its reply is done, because whoever reads it may wait for its turn', async () => {
  const bodiesOf = createReadBytes(200 * KB, 200 * KB, 20 * KB);
  const reply = Object.assign(new EventEmitter(), { closed: false });
  const read = async (bytes: number) => {
    const { request, received } = slowBody(bodiesOf('a'), bytes, reply as unknown as ServerResponse);
    request.end();
    return (await received).length;
  };
  for (let count = 0; count < 20; count++) expect(await read(20 * KB)).toBe(20 * KB);
  for (let count = 0; count < 2; count++) expect(await read(90 * KB)).toBe(90 * KB);
  await expect(read(90 * KB)).rejects.toMatchObject({ code: 'unavailable' });
  reply.emit('close');
  reply.closed = true;
  for (let count = 0; count < 5; count++) expect(await read(90 * KB)).toBe(90 * KB);
});
