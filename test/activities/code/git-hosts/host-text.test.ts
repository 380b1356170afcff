import { OutboundFailure, type OutboundHttp } from '../../../../activities/adapters/outbound/outbound-http.ts';
import { readText } from '../../../../activities/adapters/git-hosts/host-text.ts';

const SECRET = 'qs-host-token';
const order = { url: 'https://host.test/log', credentials: {}, secret: SECRET, timeoutMs: 1_000 };

/** What of a log is shown by one reading. */
async function read(log: string | OutboundFailure, from: number, hasEnded: boolean) {
  const send = (async (_call, take) => {
    if (typeof log !== 'string') return log;
    async function* body() {
      yield Buffer.from(log as string);
    }
    return { isOk: true, value: await take({ status: 200, headers: {}, body: body() } as never) };
  }) as OutboundHttp['send'];
  const answer = await readText({ send }, 'The host', order, { logId: '1', from, hasEnded });
  if (!answer.isOk) throw new Error(answer.reason);
  return answer.value;
}

test.each([
  ['lines', 'one\ntwo\nthree\n', 'one\ntwo\nthree\n'],
  ['a secret in a line', `a ${SECRET} b\nc\n`, 'a *** b\nc\n'],
  ['a wrapped secret', 'a\nq\nqs-ho\n  st-token b\nc\n', 'a\nq\n*** b\nc\n'],
  ['two secrets in a row', `x\n${SECRET}\nqs-host\n-token\nq\n`, 'x\n***\n***\nq\n'],
  ['a secret with codes in it', 'a qs-\u001B[31mhost\u001B[0m-to\rken b\n\u001B[2Jc\n', 'a *** b\nc\n'],
  ['a last line without an end', `a\n${SECRET}`, 'a\n***'],
  ['the begin of a secret at the end', 'a\nqs-host\n-tok', 'a\nqs-host\n-tok'],
])('%s are shown once and masked, wherever the log was read', async (_, log, shown) => {
  const bytes = Buffer.from(log);
  for (let first = 0; first <= bytes.length; first++)
    for (let second = first; second <= bytes.length; second++) {
      let [from, text] = [0, ''];
      for (const end of [first, second, bytes.length]) {
        const part = await read(bytes.subarray(0, end).toString(), from, false);
        from = part.next;
        text += part.text;
      }
      const last = await read(log, from, true);
      expect(text + last.text).toBe(shown);
      expect(last.next).toBe(bytes.length);
    }
});

test.each([true, false])(
  'of a log that is cut the first line is left out, as a secret may begin before it',
  async (hasEnded) => {
    const lines = Array.from({ length: 8_000 }, (_, at) => `${at} ${SECRET}\n`);
    const log = lines.join('');
    const { text, isCut, next } = await read(log, 0, hasEnded);
    expect([isCut, next]).toEqual([true, log.length]);
    expect(text).toMatch(/^\d+ \*\*\*\n/);
    expect(text.endsWith('7999 ***\n')).toBe(true);
    expect(text.replaceAll(/\d+ \*\*\*\n/g, '')).toBe('');
  },
);

test('a log that is too large ends as one that is cut', async () => {
  const part = await read(new OutboundFailure('too_large', 'too large'), 5, false);
  expect(part).toEqual({ isThere: true, text: '', next: 5, isCut: true, isTooLarge: true });
});
