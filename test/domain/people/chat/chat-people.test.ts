import { createChatPeople } from '../../../../domain/people/chat/chat-people.ts';
import type { ChatPlatform } from '../../../../domain/people/chat/chat-platform.port.ts';

test('that somebody shows no e-mail is kept for seconds alone', async () => {
  let nowMs = 0;
  let calls = 0;
  const personOf: ChatPlatform['personOf'] = () => {
    calls += 1;
    return Promise.resolve({ isOk: true, value: { email: null, teamId: 'T1', isPerson: true } });
  };
  const reads = {
    as: () => {
      throw new Error('nobody is looked up');
    },
    close: () => Promise.resolve(),
  };
  const find = createChatPeople({ personOf }, reads, () => new Date(nowMs));
  const lane = { tenantId: 't', tenantSlug: 't', workspaceId: 'w' };
  const ask = () => find({ lane, teamId: 'T1', botToken: 'x' }, 'U1');
  expect(await ask()).toEqual({ isOk: true, value: null });
  await ask();
  expect(calls).toBe(1);
  nowMs = 11_000;
  await ask();
  expect(calls).toBe(2);
});
