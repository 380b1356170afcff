import { PipelineLooks } from '../../../../activities/delivery/flows/pipeline-looks.ts';

test('a host is asked so often a minute, and not at all while it wants to be left alone', () => {
  const looks = new PipelineLooks(2);
  const at = (host: string, ...moments: number[]) => moments.map((now) => looks.take(host, now));
  expect(at('a', 0, 1, 2, 59_999, 60_000)).toEqual(['taken', 'taken', 'none', 'none', 'taken']);
  expect(at('b', 2)).toEqual(['taken']);
  looks.pause('a', 5_000, 61_000);
  expect(at('a', 61_000, 65_999, 66_000)).toEqual(['paused', 'paused', 'taken']);
});
