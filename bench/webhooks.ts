import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { Queuing } from './webhooks-load.ts';
import { setStage, type Stage } from './webhooks-stage.ts';

/**
 * Measures webhooks through the real route: API, worker, receiver and load generator as processes, PostgreSQL (fsync
 * on) and the Temporal dev server on the same machine; credential, tenancy and audit as in service.
 * Options: `--rounds 3`, `--only steady,burst,deliver,posted,backlog,fanout`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, only: { type: 'string' } },
});

const BACKLOG = 20_000;
const LANES = 50;
const FANOUT_PER_SECOND = 500;
/** The time-out of an attempt: dead lanes go on for so long after their webhook was set inactive. */
const TIMEOUT_MS = 10_000;

const figures = new Figures();

const trigger = (event: string): Queuing => ({ path: '/api/webhooks/trigger', event });

interface SteadyOptions {
  perSecond: number;
  seconds: number;
  targets: { receipt: string; accept: string };
  /** To the one webhook instead of to all that subscribe to the event. */
  isDirect?: boolean;
}

async function steady(stage: Stage, { perSecond, seconds, targets, isDirect }: SteadyOptions): Promise<void> {
  const event = `bench.steady-${perSecond}-${Date.now()}`;
  const webhookId = await stage.addWebhook(event, stage.receiverUrl('/steady'));
  const requests = [isDirect ? { path: `/api/webhooks/${webhookId}/deliver` } : trigger(event)];
  await stage.generate({ requests, perSecond, count: perSecond * 2 });
  await stage.arrived(perSecond * 2, 10);
  await stage.forget();
  const cpu = stage.measureCpu();
  const { acceptMs, accepted, refused } = await stage.generate({ requests, perSecond, count: perSecond * seconds });
  await stage.arrived(accepted, 10);
  const used = cpu();
  const seen = await stage.forget();
  const latencies = Object.values(seen.latenciesMs).flat();
  const name = `${perSecond.toLocaleString('en')}/s, ${isDirect ? 'deliver' : 'one webhook'}`;
  figures.note(`${name}: receipt p50`, quantile(latencies, 0.5));
  figures.note(`${name}: receipt p95`, quantile(latencies, 0.95), 'ms', targets.receipt);
  figures.note(`${name}: receipt p99`, quantile(latencies, 0.99));
  figures.note(`${name}: accept p50`, quantile(acceptMs, 0.5));
  figures.note(`${name}: accept p95`, quantile(acceptMs, 0.95), 'ms', targets.accept);
  figures.note(`${name}: refused or missing`, refused + accepted - seen.count, '', '0');
  figures.noteCpu(name, used, accepted);
  await stage.setInactive(webhookId);
}

/** Posted as fast as the API answers, while the lane delivers. */
async function posted(stage: Stage): Promise<void> {
  const event = `bench.posted-${Date.now()}`;
  const webhookId = await stage.addWebhook(event, stage.receiverUrl('/posted'));
  await stage.generate({ requests: [trigger(event)], count: 200 });
  await stage.arrived(200, 10);
  await stage.forget();
  const cpu = stage.measureCpu();
  const { accepted, refused, firstAt } = await stage.generate({ requests: [trigger(event)], count: BACKLOG });
  await stage.arrived(accepted, 120);
  const used = cpu();
  const seen = await stage.forget();
  const name = `${BACKLOG.toLocaleString('en')} posted at once`;
  const perSecond = seen.count / ((seen.lastAt - firstAt) / 1_000);
  figures.note(`${name}: delivered per second`, perSecond, '/s', '>= 2000');
  figures.note(`${name}: refused or missing`, refused + accepted - seen.count, '', '0');
  figures.noteCpu(name, used, accepted);
  await stage.setInactive(webhookId);
}

async function backlog(stage: Stage): Promise<void> {
  const event = `bench.backlog-${Date.now()}`;
  const webhookId = await stage.addWebhook(event, stage.receiverUrl('/backlog'));
  await stage.database.query(
    `insert into webhook_delivery (id, tenant_id, webhook_id, event, payload)
     select uuidv7(), $1::uuid, $2::uuid, $3, json_build_object('padding', repeat('x', 300)) from generate_series(1, $4)`,
    [stage.tenantId, webhookId, event, BACKLOG],
  );
  await stage.forget();
  const cpu = stage.measureCpu();
  await stage.generate({ requests: [trigger(event)], count: 1 });
  await stage.arrived(BACKLOG + 1, 120);
  const used = cpu();
  const seen = await stage.forget();
  const name = `backlog of ${BACKLOG.toLocaleString('en')}`;
  figures.note(`${name}: deliveries per second`, seen.count / ((seen.lastAt - seen.firstAt) / 1_000), '/s', '>= 3500');
  figures.note(`${name}: missing`, BACKLOG + 1 - seen.count, '', '0');
  figures.noteCpu(name, used, BACKLOG);
  await stage.setInactive(webhookId);
}

/** The p95 of the lanes whose receivers are well; of the dead ones, some hang and some refuse the connection. */
async function fanoutP95(stage: Stage, deadLanes: number): Promise<number> {
  const stamp = `${deadLanes}-${Date.now()}`;
  const lanes = Array.from({ length: LANES }, (_, lane) => ({
    event: `bench.lane-${lane}-${stamp}`,
    isDead: lane < deadLanes,
    lane,
  }));
  const webhookIds: string[] = [];
  for (const { event, isDead, lane } of lanes) {
    const deadUrl = lane % 2 === 0 ? stage.receiverUrl('/hang') : stage.refusingUrl;
    webhookIds.push(await stage.addWebhook(event, isDead ? deadUrl : stage.receiverUrl(`/lane-${lane}`)));
  }
  const load = { requests: lanes.map(({ event }) => trigger(event)), perSecond: FANOUT_PER_SECOND };
  await stage.generate({ ...load, count: FANOUT_PER_SECOND * 3 });
  await sleep(1_000);
  await stage.forget();
  await stage.generate({ ...load, count: FANOUT_PER_SECOND * 12 });
  await sleep(1_000);
  const { latenciesMs } = await stage.forget();
  for (const id of webhookIds) await stage.setInactive(id);
  if (deadLanes > 0) await sleep(TIMEOUT_MS);
  return quantile(Object.values(latenciesMs).flat(), 0.95);
}

async function fanout(stage: Stage): Promise<void> {
  const without = await fanoutP95(stage, 0);
  const withDead = await fanoutP95(stage, 2);
  const name = `${FANOUT_PER_SECOND}/s over ${LANES} webhooks`;
  figures.note(`${name}: receipt p95, all well`, without);
  figures.note(`${name}: receipt p95 of the others, two dead`, withDead);
  figures.note(`${name}: ratio`, withDead / without, '', '<= 2');
}

const SCENARIOS: Record<string, (stage: Stage) => Promise<void>> = {
  steady: (stage) => steady(stage, { perSecond: 200, seconds: 15, targets: { receipt: '<= 25', accept: '<= 10' } }),
  burst: (stage) => steady(stage, { perSecond: 1_000, seconds: 10, targets: { receipt: '<= 60', accept: '' } }),
  deliver: (stage) =>
    steady(stage, { perSecond: 200, seconds: 15, targets: { receipt: '', accept: '' }, isDirect: true }),
  posted,
  backlog,
  fanout,
};

const stage = await setStage();
try {
  const chosen = options.only?.split(',') ?? Object.keys(SCENARIOS);
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const name of chosen) {
      console.log(`round ${round}: ${name}`);
      await SCENARIOS[name]?.(stage);
    }
  }
  figures.print();
} finally {
  await stage.stop();
}
