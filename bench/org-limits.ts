import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { crmSimulator } from '../test/simulators/crm-org/simulator.ts';
import type { SimulatedOrg } from '../test/simulators/crm-org/org.ts';
import { type TenantKey, tenantOf } from '../domain/kernel/shared/actor.ts';
import { orgLimitsContract, orgsDueSignal } from '../workflows/orgs/org-limits/org-limits.contract.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures polls of orgs whose tokens and versions have to be asked for: of one tenant, of many, and beside orgs that
 * hang; what a limit takes in the database; and over HTTP the summary of 1,000 orgs and dashboards of seven days. The
 * simulated platform answers after 100 ms. Options: `--rounds 3`, `--scale 1` (a tenth of all orgs: 0.1).
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, scale: { type: 'string', default: '1' } },
});
const scale = Number(options.scale);
const LIMITS = 60;
const TENANTS = 20;
const ORGS_OF_ONE = 200 * scale;
const ORGS_EACH = 50 * scale;
const SUMMARY_ORGS = 1_000;
const SAMPLED_ORGS = 100;
/** Dashboards that each round asks for, each of another org. */
const DASHBOARDS = Math.floor(Math.min(SAMPLED_ORGS, ORGS_OF_ONE) / (Number(options.rounds) + 1));

interface BenchTenant extends TenantKey {
  token: string;
  orgs: SimulatedOrg[];
}

const crm = await crmSimulator([]);
const service = await startService([]);
const client = createTemporalClient({ address: service.temporalAddress, namespace: 'default' });
const launch = temporalLaunch(client, { queuePrefix: '', log: pino({ level: 'warn' }) });
const { database } = service;

async function register({ token, orgs }: BenchTenant, name: string): Promise<void> {
  const org = await crm.addOrg({ name, kind: 'production' });
  org.limits = Object.fromEntries(
    Array.from({ length: LIMITS }, (_, index) => [`DailyLimitOfOrg${index}`, { max: 100_000, used: 1_000 + index }]),
  );
  const response = await fetch(`${service.url}/api/auth/crm/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ cliAuthUrl: org.authUrl }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  orgs.push(org);
}

async function addTenant(slug: string, orgs: number): Promise<BenchTenant> {
  const tenant: BenchTenant = { ...(await service.addTenant(slug)), tenantSlug: slug, orgs: [] };
  const names = Array.from({ length: orgs }, (_, index) => `${slug}-${index}`).values();
  const worker = async () => {
    for (const name of names) await register(tenant, name);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return tenant;
}

const countOf = async (text: string, values: unknown[]): Promise<number> =>
  (await database.query<{ total: number }>(`select count(*)::int as total from ${text}`, values)).rows[0]?.total ?? 0;

/** Seconds until all orgs of these tenants have been polled by a new worker. @param beside tenants whose orgs are due, too. */
async function pollAll(tenants: readonly BenchTenant[], beside: readonly BenchTenant[] = []): Promise<number> {
  const all = [...tenants, ...beside].map(({ tenantId }) => tenantId);
  await database.query(`update crm_token set access_token = null, minted_at = null`);
  await database.query(
    `insert into org_limit_state (tenant_id, org_id) select tenant_id, id from crm_org on conflict do nothing`,
  );
  await database.query(
    `update org_limit_state set lease_until = null, failures = 0, failure = null,
       due_at = case when tenant_id = any ($1) then now() - interval '1 second' else now() + interval '1 day' end`,
    [all],
  );
  const worker: ChildProcess = await service.start('../activities/main.ts', ['--queues', 'crm-v1']);
  const { rows } = await database.query<{ now: string }>('select now()::text as now');
  const since = rows[0]?.now;
  const startedAt = performance.now();
  // Those that may hang are first.
  for (const tenant of [...beside, ...tenants])
    await launch.signalWithStart(orgLimitsContract, tenantOf(tenant), orgsDueSignal);
  const ids = tenants.map(({ tenantId }) => tenantId);
  const expected = tenants.reduce((sum, { orgs }) => sum + orgs.length, 0);
  while ((await countOf('org_limit_state where tenant_id = any ($1) and polled_at >= $2', [ids, since])) < expected)
    await sleep(50);
  const seconds = (performance.now() - startedAt) / 1_000;
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
  for (const tenant of [...tenants, ...beside])
    await client.workflow
      .getHandle(launch.idOf(orgLimitsContract, tenant))
      .terminate()
      .catch(() => undefined);
  return seconds;
}

/** Samples and hours of seven days for some orgs of a tenant. */
async function seedSamples({ tenantId }: BenchTenant): Promise<void> {
  await database.query(
    `insert into org_limit_sample (tenant_id, org_id, sampled_at, used, max)
     select s.tenant_id, s.org_id, t, array(select (1000 + l * 10 + extract(epoch from t)::bigint % 90000) from generate_series(1, $2) l),
       array_fill(100000::bigint, array[$2])
     from (select * from org_limit_state where tenant_id = $1 order by org_id limit ${SAMPLED_ORGS}) s,
       generate_series(date_trunc('day', now(), 'UTC') - interval '6 days', now() - interval '15 minutes', '15 minutes') t
     on conflict do nothing`,
    [tenantId, LIMITS],
  );
  await database.query(
    `insert into org_limit_hour (tenant_id, org_id, hour, peaks)
     select tenant_id, org_id, date_trunc('hour', sampled_at, 'UTC'), array_fill(9000, array[$2::int]) from org_limit_sample
     where tenant_id = $1 group by 1, 2, 3 on conflict do nothing`,
    [tenantId, LIMITS],
  );
}

async function bytesPerLimit(): Promise<number> {
  const { rows } = await database.query<{ bytes: number }>(
    `select (pg_total_relation_size('org_limit_sample') + pg_total_relation_size('org_limit_hour'))::float8
       / (select sum(cardinality(used)) from org_limit_sample) as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

try {
  console.log('registering orgs');
  const one = await addTenant('one', ORGS_OF_ONE);
  const many: BenchTenant[] = [];
  for (let index = 0; index < TENANTS; index++) many.push(await addTenant(`t${index}`, ORGS_EACH));
  const [hanging, ...others] = many as [BenchTenant, ...BenchTenant[]];
  crm.latencyMs = 100;
  const generator = await service.start('./http-load.ts');
  const load = (requests: HttpLoad['requests'], count: number) =>
    generate(generator, { url: service.url, token: one.token, connections: 1, requests, count });
  const figures = new Figures();
  const rounds = Number(options.rounds);
  for (let round = 1; round <= rounds; round++) {
    console.log(`round ${round}: polls`);
    figures.note(`${ORGS_OF_ONE} cold orgs of one tenant`, await pollAll([one]), 's', '<= 6');
    figures.note(`${ORGS_EACH * TENANTS} cold orgs of ${TENANTS} tenants`, await pollAll(many), 's', '<= 20');
    const alone = await pollAll(others);
    for (const org of hanging.orgs) org.fail('hang', { times: 1_000, path: /limits$/ });
    const beside = await pollAll(others, [hanging]);
    for (const org of hanging.orgs) org.heal();
    figures.note(`the other ${TENANTS - 1} tenants without those that hang`, alone, 's');
    figures.note(`the same beside ${ORGS_EACH} orgs that hang`, beside, 's');
    figures.note('times as long beside orgs that hang', beside / alone, '', '<= 1.5');
  }

  await seedSamples(one);
  await database.query(
    `with added as (
       insert into crm_org (id, tenant_id, username, kind, instance_url, platform_org_id, organization_type, health_status)
       select uuidv7(), $1, 'user-' || n || '@bench.example', 'sandbox', 'https://bench-' || n || '.my.crm.example.com',
         '00D' || lpad(n::text, 15, '0'), 'Sandbox', 'ok'
       from generate_series(1, $2::int) n returning id, tenant_id)
     insert into org_limit_state (tenant_id, org_id, due_at, polled_at, limits, worst)
     select a.tenant_id, a.id, now() + interval '1 day', now(), s.limits, s.worst
     from added a, (select * from org_limit_state where tenant_id = $1 and worst is not null limit 1) s`,
    [one.tenantId, SUMMARY_ORGS - ORGS_OF_ONE],
  );
  await database.query('analyze');
  figures.note('stored for a limit and poll', await bytesPerLimit(), 'B', '<= 40');
  const { rows } = await database.query<{ username: string }>(
    `select o.username from crm_org o join org_limit_state s on s.org_id = o.id
     where o.tenant_id = $1 and exists (select from org_limit_sample p where p.org_id = o.id and p.sampled_at < now() - interval '3 days')
     limit $2`,
    [one.tenantId, DASHBOARDS * (rounds + 1)],
  );
  const summary: HttpLoad['requests'] = [{ method: 'GET', path: '/api/observability/limits/summary' }];
  const dashboardsOf = (round: number): HttpLoad['requests'] =>
    rows.slice(round * DASHBOARDS, (round + 1) * DASHBOARDS).map(({ username: org }) => ({
      method: 'GET',
      path: `/api/observability/limits/dashboard?${new URLSearchParams({ org, range: 'last_7_days' })}`,
    }));
  await load(summary, 20);
  await load(dashboardsOf(rounds), DASHBOARDS);
  for (let round = 0; round < rounds; round++) {
    console.log(`round ${round + 1}: reads`);
    const summaries = await load(summary, 100);
    figures.note(`summary of ${SUMMARY_ORGS} orgs: p50`, quantile(summaries.latenciesMs, 0.5));
    figures.note(`summary of ${SUMMARY_ORGS} orgs: p95`, quantile(summaries.latenciesMs, 0.95), 'ms', '<= 60');
    const requests = dashboardsOf(round);
    let cpu = service.measureCpu();
    const cold = await load(requests, requests.length);
    figures.noteCpu('dashboard of 7 days, cold', cpu(), requests.length);
    cpu = service.measureCpu();
    figures.note('dashboard of 7 days, cold: p50', quantile(cold.latenciesMs, 0.5), 'ms', '<= 150');
    figures.note('dashboard of 7 days, cold: p95', quantile(cold.latenciesMs, 0.95), 'ms', '<= 150');
    const cached = await load(requests, requests.length);
    figures.noteCpu('dashboard of 7 days, cached', cpu(), requests.length);
    figures.note('dashboard of 7 days, cached: p50', quantile(cached.latenciesMs, 0.5), 'ms', '<= 10');
    figures.note('dashboard of 7 days, cached: p95', quantile(cached.latenciesMs, 0.95), 'ms', '<= 10');
    const failed = [summaries, cold, cached].reduce((sum, result) => sum + unexpected(result, 200), 0);
    figures.note('other answers than 200', failed, '', '0');
  }
  figures.print();
} finally {
  await client.connection.close();
  await service.stop();
  await crm.close();
}
