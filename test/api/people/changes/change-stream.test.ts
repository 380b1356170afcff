import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { ChangeRing } from '../../../../domain/kernel/changes/change-ring.ts';
import type { Change } from '../../../../domain/kernel/changes/change-rules.ts';
import { ChangeStream, FRAME_MAX } from '../../../../api/people/changes/change-stream.ts';

const change = (id: string): Change => ({ topic: 'flow_run', id, repositoryIdentifier: 'acme/a' });
const streamOf = (ring: ChangeRing, isWanted = (_: Change) => true) =>
  new ChangeStream({
    ring,
    from: undefined,
    isWanted,
    isToldOfAll: true,
    api: '1',
    heartbeatMs: 60_000,
    frameEveryMs: 0,
  });
const framesOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.includes('event: changes'))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Change[]);

test('a frame names at most so many things, and the next one the rest', async () => {
  const ring = new ChangeRing();
  const stream = streamOf(ring);
  const ids = Array.from({ length: 250 }, (_, at) => `run ${at}`);
  ring.add([...ids, ...ids].map(change));
  stream.wake();
  let text = '';
  for await (const piece of stream.readable) {
    text += String(piece);
    if (text.includes(ids.at(-1) ?? '')) break;
  }
  const frames = framesOf(text);
  expect(frames.every(({ length }) => length <= FRAME_MAX)).toBe(true);
  expect(new Set(frames.flat().map(({ id }) => id))).toEqual(new Set(ids));
});

test('a stream that falls behind what is remembered is reset', async () => {
  const ring = new ChangeRing(5);
  const stream = streamOf(ring);
  ring.add(Array.from({ length: 7 }, (_, at) => change(`${at}`)));
  stream.wake();
  ring.add([change('later')]);
  stream.wake();
  stream.bye('stopping');
  let text = '';
  for await (const piece of stream.readable) text += String(piece);
  expect(text).toMatch(/^event: reset\ndata: \{"reason":"too_old"\}$/m);
  expect(framesOf(text)).toEqual([[change('later')]]);
});

test('a client that does not read loses its stream, and one beside it keeps its own', async () => {
  const ring = new ChangeRing();
  const streams: ChangeStream[] = [];
  const server = createServer((_, response) => {
    const stream = streamOf(ring);
    streams.push(stream);
    pipeline(stream.readable, response, () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
    await once(socket, 'data');
    return socket;
  };
  const [reading, stalled] = [await open(), await open()];
  reading.resume();
  stalled.pause();
  for (let at = 0; !streams[1]?.readable.destroyed; at++) {
    ring.add(Array.from({ length: FRAME_MAX }, (_, place) => change(`${at}-${place}-${'x'.repeat(400)}`)));
    for (const stream of streams) stream.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(streams[0]?.readable.destroyed).toBe(false);
  stalled.resume();
  await once(stalled, 'close');
  reading.destroy();
  server.close();
});

test('heartbeats tell how far a stream is only to who is told of all', async () => {
  for (const isToldOfAll of [true, false]) {
    const parts = { ring: new ChangeRing(), from: undefined, isWanted: () => false, isToldOfAll, api: '1' };
    const stream = new ChangeStream({ ...parts, heartbeatMs: 1 });
    let beat = '';
    for await (const piece of stream.readable) {
      beat = String(piece);
      if (beat.startsWith(':')) break;
    }
    expect(beat).toMatch(isToldOfAll ? /^: \nid: \w+-0\n\n/ : /^: \n\n(: \n\n)*$/);
  }
});
