import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createProvisioning } from '../domain/identity/users/provisioning.mutations.ts';
import { connectOrm } from '../domain/orm.ts';
import type { SeenAt } from './changes-viewers.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures streams of changes: 1,000 of 10 tenants in one API process, from the reply of the request that made a change to
 * each stream that names it, at 10 a second; and what release events lose beside them. Options: `--seconds 10`,
 * `--events 150` per round, `--rounds 1`.
 */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    events: { type: 'string', default: '150' },
    rounds: { type: 'string', default: '1' },
  },
});
const TENANTS = 10;
const STREAMS = 1_000;
const PER_CALLER = 10;
const PER_SECOND = 10;
const EVENT_CONNECTIONS = 4;
const repositoryIdentifier = 'bench/shop';

const service = await startService(['releases-v1']);
const figures = new Figures();
try {
  const tenants = await makeTenants();
  const generator = await service.start('./http-load.ts');
  let made = 0;
  const makeEnvironment = async (token: string, answeredAt: Map<string, number>): Promise<void> => {
    const body = { repositoryIdentifier, name: `env-${++made}`, category: 'test' };
    const { id } = (await service.callAs(token, 'POST', '/api/environments', body)) as { id: string };
    answeredAt.set(id, performance.timeOrigin + performance.now());
  };
  /** Makes an environment in the tenants in turn, so many a second; answers when each was answered. */
  const change = async (count: number): Promise<Map<string, number>> => {
    const answeredAt = new Map<string, number>();
    const startedAt = performance.now();
    const requests: Promise<void>[] = [];
    for (let at = 0; at < count; at++) {
      await sleep(Math.max(0, startedAt + (at * 1_000) / PER_SECOND - performance.now()));
      requests.push(makeEnvironment(tenants[at % TENANTS]?.token ?? '', answeredAt));
    }
    await Promise.all(requests);
    return answeredAt;
  };
  const events = async (name: string, round: number) => {
    const count = Number(options.events);
    const requests: HttpLoad['requests'] = await releaseEvents(`${name}-${round}`, count);
    const cpu = service.measureCpu();
    const load = { url: service.url, token: service.token, connections: EVENT_CONNECTIONS, requests, count };
    const done = await generate(generator, load);
    figures.note(`release events ${name}: a second`, count / done.seconds, '/s');
    figures.note(`release events ${name}: CPU of the API`, ((cpu().API ?? 0) * 1_000) / count, 'µs');
    figures.note(`release events ${name}: other answers than 200`, unexpected(done, 200), '', '0');
    return count / done.seconds;
  };

  await events('to warm up', 0);
  await change(PER_SECOND * 2);
  const alone = [await events('alone', 0)];
  const coreOf = async (count: number) => {
    const cpu = service.measureCpu();
    const startedAt = performance.now();
    const answeredAt = await change(count);
    return { answeredAt, core: ((cpu().API ?? 0) / (performance.now() - startedAt)) * 100 };
  };
  const withoutStreams = await coreOf(Number(options.seconds) * PER_SECOND);
  const before = service.apiMegabytes();
  const viewers = await service.start('./changes-viewers.ts');
  const tokens = tenants.flatMap((tenant) => tenant.tokens);
  await ask(viewers, { url: service.url, tokens, each: PER_CALLER });
  console.log(`${tokens.length * PER_CALLER} streams of ${TENANTS} tenants`);
  await sleep(2_000);
  figures.note('memory of the API by the streams, open', service.apiMegabytes() - before, 'MB', '<= 60');
  const { answeredAt, core } = await coreOf(Number(options.seconds) * PER_SECOND);
  await sleep(1_000);
  const { seenAt, resets } = (await ask(viewers, 'report')) as { seenAt: SeenAt; resets: number };
  const delays = [...answeredAt].flatMap(([id, at]) => (seenAt[id] ?? []).map((seen) => Math.max(0, seen - at)));
  figures.note('commit to frame, 10/s to 100 streams each: p50', quantile(delays, 0.5));
  figures.note('commit to frame, 10/s to 100 streams each: p95', quantile(delays, 0.95), 'ms', '<= 250');
  figures.note('frames that are missing', (answeredAt.size * STREAMS) / TENANTS - delays.length, '', '0');
  figures.note('resets', resets, '', '0');
  figures.note('CPU of the API for the requests alone', withoutStreams.core, '%');
  figures.note('CPU of the API for the streams', core - withoutStreams.core, '%', '<= 20');
  figures.note('memory of the API by the streams, after the changes', service.apiMegabytes() - before, 'MB', '<= 60');

  const beside: number[] = [];
  for (let round = 1; round <= Number(options.rounds); round++) beside.push(await events('beside the streams', round));
  await ask(viewers, 'leave');
  await sleep(1_000);
  for (let round = 1; round <= Number(options.rounds); round++) alone.push(await events('alone', round));
  figures.note(
    'release events lost beside the streams',
    (1 - quantile(beside, 0.5) / quantile(alone, 0.5)) * 100,
    '%',
    '<= 5',
  );
  figures.print();
} finally {
  await service.stop();
}

async function ask(child: ChildProcess, message: object | string): Promise<unknown> {
  const answer = once(child, 'message');
  child.send(message);
  return (await answer)[0];
}

/** Tenants with a project each, and tokens for their streams. */
async function makeTenants() {
  const orm = connectOrm({ databaseUrl: service.databaseUrl, poolSize: 4 });
  try {
    const provisioning = createProvisioning(orm);
    const made = [];
    for (let at = 0; at < TENANTS; at++) {
      const slug = at === 0 ? 'bench' : `bench-${at}`;
      if (at > 0) await service.addTenant(slug);
      const tokens: string[] = [];
      for (let nth = 0; nth < STREAMS / TENANTS / PER_CALLER; nth++)
        tokens.push((await provisioning.createToken({ tenant: slug, name: `viewer-${nth}`, expiresInDays: 1 })).token);
      const owner = `owner@${slug}.example`;
      const login = { email: owner, password: 'a password for one run' };
      const { access_token: token } = (await service.callAs('', 'POST', '/api/auth/admin/login', login)) as {
        access_token: string;
      };
      await service.callAs(token, 'POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
      made.push({ token, tokens });
    }
    await service.call('POST', '/api/environments', { repositoryIdentifier, name: 'uat', category: 'release' });
    return made;
  } finally {
    await orm.close(true);
  }
}

/** Release events of as many candidates. */
async function releaseEvents(name: string, count: number): Promise<HttpLoad['requests']> {
  const requests: HttpLoad['requests'] = [];
  for (let at = 0; at < count; at++) {
    const release = { repositoryIdentifier, domain: `domain-${at % 10}`, releaseName: `${name}-${at}` };
    await service.call('POST', '/api/release-candidates', {
      ...release,
      commitSha: 'abcdef0',
      value: { artifacts: { app: '1.0.0' } },
    });
    const body = { ...release, environmentName: 'uat', deploymentStatus: 'Success', executionId: `run-${name}-${at}` };
    requests.push({ method: 'POST', path: '/api/release-candidates/release-event', body });
  }
  return requests;
}
