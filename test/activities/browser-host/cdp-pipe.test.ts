import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { CdpError, type CdpMessage } from '../../../activities/browser-host/chromium/browser.ts';
import { CdpPipe } from '../../../activities/browser-host/automation/cdp-pipe.ts';

function pipe() {
  const [toBrowser, fromBrowser] = [new PassThrough(), new PassThrough()];
  const asked: CdpMessage[] = [];
  toBrowser.on('data', (chunk: Buffer) => {
    for (const message of chunk.toString().split('\0')) if (message) asked.push(JSON.parse(message) as CdpMessage);
  });
  const answer = (...messages: object[]) =>
    fromBrowser.write(messages.map((message) => `${JSON.stringify(message)}\0`).join(''));
  return { cdp: new CdpPipe(toBrowser, fromBrowser), asked, answer, toBrowser, fromBrowser };
}

test('replies find those who asked, whatever their order and chunks', async () => {
  const { cdp, asked, fromBrowser } = pipe();
  const first = cdp.send('A.first', { a: 'ü' }, 's1');
  const second = cdp.pass({ id: 77, method: 'A.second' });
  await new Promise(setImmediate);
  expect(asked).toEqual([
    { id: 1, method: 'A.first', params: { a: 'ü' }, sessionId: 's1' },
    { id: 2, method: 'A.second' },
  ]);
  const bytes = Buffer.from('{"id":2,"error":{"code":-1,"message":"nö"}}\0{"id":1,"result":{"x":1}}\0');
  for (const byte of bytes) fromBrowser.write(Buffer.from([byte]));
  expect(await first).toEqual({ x: 1 });
  expect(await second).toEqual({ id: 77, error: { code: -1, message: 'nö' } });
});

test('events go to those who listen to their session, until they end that', async () => {
  const { cdp, answer } = pipe();
  const heard: unknown[] = [];
  const end = cdp.onEvent('s1', (method, params) => heard.push([method, params]));
  cdp.onEvent(undefined, (method) => heard.push(method));
  cdp.onAnyEvent(({ method }) => heard.push(`any ${method}`));
  answer({ method: 'A.x', sessionId: 's1', params: { n: 1 } }, { method: 'A.y' }, { method: 'A.z', sessionId: 's2' });
  await new Promise(setImmediate);
  expect(heard).toEqual(['any A.x', ['A.x', { n: 1 }], 'any A.y', 'A.y', 'any A.z']);
  end();
  answer({ method: 'A.x', sessionId: 's1' });
  await new Promise(setImmediate);
  expect(heard).toHaveLength(6);
});

test('what was asked of a tab that is gone is answered', async () => {
  const { cdp, answer } = pipe();
  const [sent, passed] = [cdp.send('A.x', {}, 's1'), cdp.pass({ id: 5, method: 'A.y', sessionId: 's1' })];
  answer({ method: 'Target.detachedFromTarget', params: { sessionId: 's1' } });
  await expect(sent).rejects.toThrow('not found');
  expect(await passed).toMatchObject({ id: 5, sessionId: 's1', error: { code: -32_001 } });
});

test('an answer of more than 8 MB is not read, and is an error for who asked; an event as long is left out', async () => {
  const { cdp, answer } = pipe();
  const events: string[] = [];
  cdp.onEvent(undefined, (method) => events.push(method));
  const [passed, sent, next] = [cdp.pass({ id: 9, method: 'A.x' }), cdp.send('A.y'), cdp.send('A.z')];
  const text = 'x'.repeat(8 * 1_048_576);
  answer({ method: 'A.long', params: { text } }, { method: 'A.short' });
  answer({ id: 1, result: { text }, sessionId: 's1' }, { id: 2, result: { text } }, { id: 3, result: { x: 1 } });
  expect(await passed).toEqual({ id: 9, error: { code: -32_000, message: expect.stringMatching(/may have 8388608/) } });
  await expect(sent).rejects.toThrow(CdpError);
  expect(await next).toEqual({ x: 1 });
  expect(events).toEqual(['A.short']);
});

test.each([
  ['no JSON', [Buffer.from('nonsense\0')]],
  ['more than 64 MB', Array.from({ length: 65 }, () => Buffer.alloc(1_048_576, 'x'))],
])('a message of %s closes the connection', async (_, chunks) => {
  const { cdp, fromBrowser } = pipe();
  const waiting = cdp.send('A.x');
  for (const chunk of chunks) fromBrowser.write(chunk);
  await expect(waiting).rejects.toThrow(CdpError);
  await cdp.closed;
  await expect(cdp.send('A.y')).rejects.toThrow('The browser is gone');
});

test('a browser that ends is still heard after it has stopped to listen', async () => {
  const { cdp, answer, toBrowser, fromBrowser } = pipe();
  const [answered, unanswered] = [cdp.send('Browser.close'), cdp.send('A.x')];
  toBrowser.destroy();
  await once(toBrowser, 'close');
  await expect(cdp.send('A.y')).rejects.toThrow('The browser is gone');
  answer({ id: 1, result: { x: 1 } });
  fromBrowser.end();
  expect(await answered).toEqual({ x: 1 });
  await expect(unanswered).rejects.toThrow('The browser is gone');
  await cdp.closed;
});

test('a browser that neither listens nor says anything is given up', async () => {
  const { cdp, toBrowser, fromBrowser } = pipe();
  const unanswered = cdp.send('A.x');
  toBrowser.destroy(new Error('write EPIPE'));
  await expect(unanswered).rejects.toThrow('The browser is gone');
  expect(fromBrowser.destroyed).toBe(true);
});

test('a browser that answers nothing is asked 10,000 times at most', async () => {
  const { cdp } = pipe();
  const asked = Array.from({ length: 10_000 }, () => cdp.send('A.x').catch(() => 'gone'));
  await expect(cdp.send('A.x')).rejects.toThrow('unanswered');
  cdp.close();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['gone']));
});

test('who waits for a reply goes on before events that came behind it, and after those before it', async () => {
  const { cdp, answer } = pipe();
  const seen: string[] = [];
  cdp.onAnyEvent(({ method }) => seen.push(String(method)));
  const note = async (reply: Promise<unknown>, name: string) => {
    await reply;
    await Promise.resolve();
    seen.push(name);
  };
  const replies = [note(cdp.pass({ method: 'A.a' }), 'first'), note(cdp.send('A.b'), 'second')];
  const event = (method: string) => ({ method, params: {} });
  answer(event('E.1'), { id: 1, result: {} }, event('E.2'), { id: 2, result: {} }, event('E.3'), event('E.4'));
  await Promise.all(replies);
  await new Promise(setImmediate);
  expect(seen).toEqual(['E.1', 'first', 'E.2', 'second', 'E.3', 'E.4']);
});

test('with a session end those that were attached by it, and what was asked of them is answered', async () => {
  const { cdp, answer } = pipe();
  answer({ method: 'Target.attachedToTarget', sessionId: 'root', params: { sessionId: 'child' } });
  const passed = cdp.pass({ id: 5, method: 'A.x', sessionId: 'child' });
  answer({ method: 'Target.detachedFromTarget', params: { sessionId: 'root' } });
  expect(await passed).toMatchObject({ id: 5, error: { code: -32_001 } });
});
