import { loggingTo } from '../../../../domain/process-log.ts';
import type { Dependency } from '../../../../domain/kernel/system/outages.ts';
import { eventually } from '../../../support/eventually.ts';

class AwayError extends Error {}

/** A dependency that answers as the test says, and the log of a process that uses it. */
function stage(level = 'info') {
  const lines: Record<string, unknown>[] = [];
  const { log, outages } = loggingTo({ write: (line: string) => void lines.push(JSON.parse(line)) }, { level });
  let answers: (() => Promise<void>) | undefined;
  const dependency: Dependency = {
    name: 'postgresql',
    title: 'PostgreSQL',
    meanwhile: 'work waits',
    check: () => (answers ? answers() : Promise.reject(new Error('connection refused'))),
    mayExplain: (error) => error instanceof AwayError,
  };
  outages.watch(dependency);
  const said = () => lines.map(({ level: number, msg }) => `${number} ${msg}`);
  return {
    log,
    lines,
    said,
    report: outages.reporter('postgresql'),
    answerWith: (answer: () => Promise<void>) => (answers = answer),
    until: (last: string) =>
      eventually(
        async () => said(),
        (all) => all.some((line) => line.includes(last)),
      ),
  };
}

test('an outage is two entries, and what fails because of it is none', async () => {
  const { log, lines, said, report, answerWith, until } = stage();
  const err = new AwayError('connection refused');
  report(err);
  log.warn({ err }, 'a request failed');
  await until('does not answer');
  for (let n = 0; n < 3; n++) {
    report(err);
    log.child({ requestId: 'r' }).warn({ err }, 'another failed');
    log.error({ error: err }, 'Activity failed');
  }
  log.warn({ err: new Error('something else') }, 'not because of it');
  answerWith(async () => undefined);
  await until('answers again');
  log.warn({ err }, 'told late');
  log.info('goes on');
  expect(said()).toEqual([
    '50 PostgreSQL does not answer: work waits',
    '40 not because of it',
    '40 PostgreSQL answers again',
    '30 goes on',
  ]);
  expect(lines).toMatchObject([{ reason: 'connection refused' }, {}, { awaySeconds: expect.any(Number) }, {}]);
});

test('what failed although the dependency answers is logged as it is, and else that it failed for a moment', async () => {
  const { log, said, report, answerWith, until } = stage();
  const checked = Promise.withResolvers<void>();
  answerWith(() => checked.promise);
  report(new AwayError('lost'));
  log.warn({ err: new AwayError('lost') }, 'a request failed');
  expect(said()).toEqual([]);
  checked.resolve();
  await until('a request failed');
  report(new AwayError('lost'));
  await until('for a moment');
  expect(said()).toEqual(['40 a request failed', '40 PostgreSQL failed for a moment, and answers']);
});

test('who looks closely sees what failed, with stacks', async () => {
  const { log, lines, report, until } = stage('debug');
  const err = new AwayError('connection refused');
  report(err);
  await until('does not answer');
  log.warn({ err }, 'a request failed');
  expect(lines.at(-1)).toMatchObject({ level: 20, msg: 'a request failed', err: { stack: expect.any(String) } });
});
