import { sendHeartbeats } from '../../../activities/browser-host/sessions/heartbeats.ts';
import { eventually } from '../../support/eventually.ts';

test.each<[string, () => Promise<void>]>([
  ['fail', () => Promise.reject(new Error('the database is away'))],
  ['are not answered', () => new Promise(() => undefined)],
])('a host whose heartbeats %s is told once for each time that it is not heard', async (_, away) => {
  let say = away;
  let silences = 0;
  let heard = 0;
  const stop = sendHeartbeats({
    say: () => say(),
    onFailed: () => undefined,
    onSilent: () => silences++,
    everyMs: 20,
    silentMs: 200,
  });
  const silent = (times: number) =>
    eventually(
      async () => silences,
      (count) => count === times,
    );
  await silent(1);
  say = async () => void heard++;
  await eventually(
    async () => heard,
    (count) => count > 0,
  );
  say = away;
  await silent(2);
  stop();
});
