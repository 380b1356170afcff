import { readPostAnswer } from '../../../../domain/people/chat/chat-failure-rules.ts';

test('a message is taken, whatever of the answer that repeats it is read', () => {
  const answer = { ok: true, channel: 'C1', ts: '1.000002', message: { text: 'x'.repeat(1_000) } };
  const whole = JSON.stringify(answer);
  expect(readPostAnswer(whole)).toEqual(answer);
  expect(readPostAnswer(whole.slice(0, 200))).toEqual({ ok: true, channel: 'C1', ts: '1.000002' });
  expect(readPostAnswer('{"ok":true,"mess')).toEqual({ ok: true, channel: undefined, ts: undefined });
  for (const none of ['', 'null', '<html>', '{"ok":false,"err', '"ok":true'])
    expect(readPostAnswer(none)).toBeUndefined();
});
