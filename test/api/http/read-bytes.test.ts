import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { createReadBytes } from '../../../api/http/read-bytes.ts';

const KB = 1_024;
const LIMIT = 100 * KB;

/** A body of which the sender holds back the end. */
function slowBody(readBytes: ReturnType<ReturnType<typeof createReadBytes>>, bytes: number) {
  const request = Object.assign(new PassThrough(), { headers: {}, httpVersion: '1.1' });
  const received = readBytes(request as unknown as IncomingMessage, {} as ServerResponse, LIMIT);
  received.catch(() => undefined);
  request.write(Buffer.alloc(bytes));
  return { request, received };
}

test('slow bodies of one holder leave room for those of others, and take none when they have ended', async () => {
  const readBytesOf = createReadBytes(400 * KB, 200 * KB);
  const held = [slowBody(readBytesOf('a'), 90 * KB), slowBody(readBytesOf('a'), 90 * KB)];
  await expect(slowBody(readBytesOf('a'), 90 * KB).received).rejects.toMatchObject({ code: 'unavailable' });
  const other = slowBody(readBytesOf('b'), 90 * KB);
  other.request.end();
  expect((await other.received).length).toBe(90 * KB);
  for (const { request, received } of held) {
    request.destroy();
    await expect(received).rejects.toMatchObject({ code: 'invalid_request' });
  }
  const again = slowBody(readBytesOf('a'), 90 * KB);
  again.request.end();
  expect((await again.received).length).toBe(90 * KB);
});

test('the bodies of all holders together have a limit, too', async () => {
  const readBytesOf = createReadBytes(200 * KB, 150 * KB);
  slowBody(readBytesOf('a'), 90 * KB);
  slowBody(readBytesOf('b'), 90 * KB);
  await expect(slowBody(readBytesOf('c'), 90 * KB).received).rejects.toMatchObject({ code: 'unavailable' });
});
