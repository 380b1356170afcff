import { type KeptOutput, tailText } from '../../../../domain/delivery/flows/programs/output-rules.ts';
import { outputOf } from '../../../../domain/delivery/flows/programs/run-output.ts';
import type { ByteRange, ObjectStore } from '../../../../domain/kernel/objects/object-store.port.ts';
import { wholeBytes } from '../../../../domain/kernel/shared/whole-bytes.ts';

const objects: Readonly<Record<string, string>> = { all: '0123456789' };
const store: Pick<ObjectStore, 'get' | 'sizeOf'> = {
  sizeOf: async (key) => objects[key]?.length,
  async get(key, range?: ByteRange) {
    const content = objects[key];
    if (content === undefined) return undefined;
    return (async function* () {
      yield Buffer.from(range ? content.slice(range.start, range.end + 1) : content);
    })();
  },
};
const nothing: KeptOutput = {
  outputTail: null,
  outputObject: null,
  outputSoFar: null,
  bytesSoFar: null,
  bytes: null,
  hasEnded: false,
  isOfProgram: true,
};
const soFar = { ...nothing, outputSoFar: Buffer.from('6789'), bytesSoFar: 10 };
const ended = { ...nothing, hasEnded: true };

const read = async (kept: KeptOutput, header: string | null = null) => {
  const { content, ...part } = await outputOf(kept, store as ObjectStore, header);
  const bytes = content instanceof Uint8Array ? Buffer.from(content) : await wholeBytes(content, 100);
  return { text: bytes.toString(), ...part };
};

test.each<[string, KeptOutput, object]>([
  ['of a run that has printed nothing yet', nothing, { text: '', from: 0, isComplete: false }],
  ['while it goes on', soFar, { text: '6789', from: 6, isComplete: false }],
  ['of a worker that was lost', { ...soFar, hasEnded: true }, { text: '6789', from: 6, isComplete: false }],
  [
    'of the service itself, which ended without a report',
    { ...ended, isOfProgram: false, outputSoFar: Buffer.from('log'), bytesSoFar: 3 },
    { text: 'log', from: 0, isComplete: true },
  ],
  [
    'of the service itself, whose log has lost its beginning',
    { ...soFar, hasEnded: true, isOfProgram: false },
    { text: '6789', from: 6, isComplete: false },
  ],
  ['that has ended', { ...ended, outputTail: 'end', bytes: 3 }, { text: 'end', from: 0, isComplete: true }],
  [
    'whose command has ended, but not its run',
    { ...soFar, outputTail: 'end', bytes: 3 },
    { text: 'end', from: 0, isComplete: false },
  ],
  [
    'of which the store kept nothing',
    { ...ended, outputTail: '6789', outputObject: 'gone', bytes: 10 },
    { text: '6789', from: 6, isComplete: false },
  ],
  [
    'that the store has',
    { ...ended, outputTail: '6789', outputObject: 'all', bytes: 10 },
    { text: '0123456789', from: 0, isComplete: true },
  ],
  [
    'of which the store has the first part',
    { ...ended, outputTail: '6789', outputObject: 'all', bytes: 99 },
    { text: '0123456789', from: 0, isComplete: false },
  ],
])('the output %s', async (_, kept, output) => {
  await expect(read(kept)).resolves.toEqual(output);
});

test('a run that ended and printed nothing has no output', async () => {
  await expect(read(ended)).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  [soFar, 'bytes=8-', { text: '89', from: 8, range: 'bytes 8-9/*' }],
  [soFar, 'bytes=0-6', { text: '6', from: 6, range: 'bytes 6-6/*' }],
  [soFar, 'bytes=-3', { text: '789', from: 7, range: 'bytes 7-9/*' }],
  [soFar, 'bytes=7-7', { text: '7', from: 7, range: 'bytes 7-7/*' }],
  [soFar, 'lines=1-2', { text: '6789', from: 6 }],
  [{ ...ended, outputObject: 'all', bytes: 10 }, 'bytes=3-5', { text: '345', from: 3, range: 'bytes 3-5/10' }],
])('%#: a part is told by its position in all of the output', async (kept, header, part) => {
  await expect(read(kept, header)).resolves.toMatchObject(part);
});

test.each(['bytes=10-', 'bytes=0-5'])('%s of which nothing is there cannot be answered', async (header) => {
  await expect(read(soFar, header)).rejects.toMatchObject({ code: 'range_not_satisfiable' });
});

test('what is shown of it as text has no character that PostgreSQL refuses', () => {
  expect(tailText({ outputTail: null, outputSoFar: Buffer.from('a\0b') })).toBe('a�b');
  expect(tailText({ outputTail: 'end', outputSoFar: Buffer.from('before') })).toBe('end');
  expect(tailText(nothing)).toBeNull();
});
