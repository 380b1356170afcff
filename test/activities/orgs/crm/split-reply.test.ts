import { RETRIEVE_MAX_BYTES, splitReply } from '../../../../activities/adapters/crm/crm-retrieve-reply.ts';
import { boundedBytes, TooLargeError } from '../../../../domain/kernel/shared/whole-bytes.ts';

async function split(text: string, pieceLength: number) {
  const pieces: Buffer[] = [];
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceLength) pieces.push(bytes.subarray(at, at + pieceLength));
  let xml = '';
  const zip: Buffer[] = [];
  const sizeBytes = await splitReply(
    (async function* () {
      yield* pieces;
    })(),
    {
      xml: (part) => {
        xml += part;
      },
      zip: async (part) => void zip.push(part),
    },
  );
  return { xml, zip: Buffer.concat(zip).toString(), sizeBytes };
}

test('the archive is taken out of a reply, however it is cut', async () => {
  const content = 'The quick brown fox — ünïcode — jumps.';
  const base64 = Buffer.from(content).toString('base64');
  const reply = `<result><name>é<b/></name><zipFile>${base64.slice(0, 9)}\r\n${base64.slice(9)}</zipFile></result>`;
  for (let length = 1; length < 40; length++) {
    expect(await split(reply, length)).toEqual({
      xml: '<result><name>é<b/></name><zipFile></zipFile></result>',
      zip: content,
      sizeBytes: Buffer.byteLength(content),
    });
  }
});

test('a reply without an archive is XML alone', async () => {
  for (const reply of [
    '<r><zipFile/></r>',
    '<r><zipFile xsi:nil="true"/></r>',
    '<r>&lt;zipFile></r>',
    '<r><zipFile></zipFile></r>',
  ])
    for (const length of [1, 3, 100]) expect(await split(reply, length)).toEqual({ xml: reply, zip: '', sizeBytes: 0 });
  expect(await split('<m:zipFile>YQ==</m:zipFile>', 2)).toMatchObject({ zip: 'a' });
});

test('what is no base64, or comes twice, is refused', async () => {
  await expect(split('<r><zipFile>!!!!****!!!!****</zipFile></r>', 100)).rejects.toThrow('not base64');
  await expect(split('<r><zipFile>YQ==</zipFile><zipFile>YQ==</zipFile></r>', 5)).rejects.toThrow('more than one');
});

test('a reply without end is refused by the bound of its call', async () => {
  const block = Buffer.alloc(1_048_576, 'A');
  const endless = async function* () {
    yield Buffer.from('<zipFile>');
    for (;;) yield block;
  };
  let sizeBytes = 0;
  const reading = splitReply(boundedBytes(endless(), RETRIEVE_MAX_BYTES), {
    xml: () => undefined,
    zip: async (part) => void (sizeBytes += part.length),
  });
  await expect(reading).rejects.toThrow(TooLargeError);
  expect(sizeBytes).toBeLessThanOrEqual((128 * 1_048_576 * 3) / 4);
});
