import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures runs of a flow, `POST /api/flows/run` to the end, beside a bare workflow of one activity that runs the same
 * program on the same server. Options: `--rounds 3`, `--seconds 20` of steady load, `--runs 500` at once.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    runs: { type: 'string', default: '500' },
  },
});
const PER_SECOND = 20;
const AT_ONCE = 32;
const runs = Number(options.runs);
const folder = mkdtempSync(join(tmpdir(), 'quayside-bench-flows-'));
process.env.COMMANDS_FILE = join(folder, 'commands.json');
// It prints when it began, in nanoseconds.
writeFileSync(process.env.COMMANDS_FILE, JSON.stringify({ analyze: { program: '/bin/date', args: ['+%s%N'] } }));

const service = await startService(['flows-v1', 'commands-v1']);
const client = createTemporalClient({ address: service.temporalAddress, namespace: 'default' });
try {
  await service.call('POST', '/api/projects', { identifier: 'bench/shop', platform: 'host-a' });
  await service.start('./flows-bare-worker.ts', ['bare']);
  const generator = await service.start('./http-load.ts');
  const requests: HttpLoad['requests'] = [
    {
      method: 'POST',
      path: '/api/flows/run',
      body: { payload: { id: 'analyze', repositoryIdentifier: 'bench/shop' } },
    },
  ];
  const post = (count: number, pace: Partial<HttpLoad>) =>
    generate(generator, { url: service.url, token: service.token, requests, count, connections: AT_ONCE, ...pace });
  const allEnded = async () => {
    for (;;) {
      const { rows } = await service.database.query<{ open: number }>(
        'select count(*)::int as open from flow_run where ended_at is null',
      );
      if (rows[0]?.open === 0) return;
      await sleep(20);
    }
  };
  const bareRuns = async (count: number) => {
    const began = performance.now();
    const handles: Awaited<ReturnType<typeof client.workflow.start>>[] = [];
    let next = 0;
    const starter = async () => {
      while (next < count) {
        const workflowId = `bare/${round}/${next++}-${performance.now()}`;
        handles.push(await client.workflow.start('bareFlow', { taskQueue: 'bare', workflowId }));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, starter));
    const startedMs = performance.now() - began;
    await Promise.all(handles.map((handle) => handle.result()));
    return {
      startsPerSecond: (count * 1_000) / startedMs,
      runsPerSecond: (count * 1_000) / (performance.now() - began),
    };
  };

  const figures = new Figures();
  let round = 0;
  await post(40, { perSecond: PER_SECOND });
  await bareRuns(40);
  await allEnded();
  for (round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const { rows: before } = await service.database.query<{ now: Date }>('select now()');
    const steadyCpu = service.measureCpu();
    const steady = await post(Number(options.seconds) * PER_SECOND, { perSecond: PER_SECOND });
    await allEnded();
    figures.noteCpu('20/s, per run', steadyCpu(), Number(options.seconds) * PER_SECOND);
    const { rows } = await service.database.query<{ ms: number | null }>(
      `select (output_tail::numeric / 1e6 - extract(epoch from created_at) * 1e3)::float as ms from flow_run where created_at >= $1`,
      [before[0]?.now],
    );
    const untilStarted = rows.map(({ ms }) => ms).filter((ms) => ms !== null);
    figures.note('20/s: accepted after, p50', quantile(steady.latenciesMs, 0.5), 'ms', '<= 8');
    figures.note('20/s: accepted after, p99', quantile(steady.latenciesMs, 0.99), 'ms', '<= 60');
    figures.note('20/s: program began after, p50', quantile(untilStarted, 0.5), 'ms', '<= 30');
    figures.note('20/s: program began after, p99', quantile(untilStarted, 0.99), 'ms', '<= 120');
    figures.note('20/s: other answers than 202', unexpected(steady, 202), '', '0');

    const bareCpu = service.measureCpu();
    const bare = await bareRuns(runs);
    figures.noteCpu('bare, per run', bareCpu(), runs);
    const burstCpu = service.measureCpu();
    const began = performance.now();
    const burst = await post(runs, {});
    await allEnded();
    const runsPerSecond = (runs * 1_000) / (performance.now() - began);
    figures.noteCpu('flows, per run', burstCpu(), runs);
    const postsPerSecond = runs / burst.seconds;
    const { rows: others } = await service.database.query<{ runs: number }>(
      `select count(*)::int as runs from flow_run where created_at >= $1 and status <> 'succeeded'`,
      [before[0]?.now],
    );
    figures.note('runs that did not succeed', others[0]?.runs ?? 0, '', '0');
    figures.note('bare: starts per second', bare.startsPerSecond, '/s');
    figures.note('flows: posts per second', postsPerSecond, '/s');
    figures.note('posts, of bare starts', postsPerSecond / bare.startsPerSecond, '', '>= 0.85');
    figures.note('bare: runs to their end per second', bare.runsPerSecond, '/s');
    figures.note('flows: runs to their end per second', runsPerSecond, '/s');
    figures.note('runs, of bare runs', runsPerSecond / bare.runsPerSecond, '', '>= 1.6');
  }
  figures.print();
} finally {
  await client.connection.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
