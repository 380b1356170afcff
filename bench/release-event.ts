import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures `POST /api/release-candidates/release-event` with the engine and a worker behind it: 20 a second over 10
 * domains, and 100 of one domain at once. Options: `--rounds 3`, `--seconds 20` per round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '20' } },
});
const DOMAINS = 10;
const PER_SECOND = 20;
const AT_ONCE = 100;
const ENVIRONMENTS = ['uat', 'staging', 'production'];
const repositoryIdentifier = 'bench/shop';

const service = await startService(['releases-v1']);
try {
  await service.call('POST', '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    configuration: { autoReleaseFinalization: true },
  });
  for (const name of ENVIRONMENTS)
    await service.call('POST', '/api/environments', { repositoryIdentifier, name, category: 'release' });
  let run = 0;
  const candidate = (domain: string, releaseName: string) =>
    service.call('POST', '/api/release-candidates', {
      repositoryIdentifier,
      domain,
      releaseName,
      commitSha: 'abcdef0',
      value: { artifacts: { app: '1.0.0' } },
    });
  const event = (domain: string, releaseName: string, environmentName: string) => ({
    method: 'POST' as const,
    path: '/api/release-candidates/release-event',
    body: {
      repositoryIdentifier,
      domain,
      releaseName,
      environmentName,
      deploymentStatus: 'Success',
      executionId: `run-${++run}`,
    },
  });
  /** Events that take candidates of each domain through the environments to finalized. */
  const travels = async (prefix: string, count: number) => {
    const requests: HttpLoad['requests'] = [];
    for (let travel = 0; requests.length < count; travel++) {
      for (let domain = 0; domain < DOMAINS; domain++) await candidate(`domain-${domain}`, `${prefix}-${travel}`);
      for (const environment of ENVIRONMENTS) {
        for (let domain = 0; domain < DOMAINS; domain++)
          requests.push(event(`domain-${domain}`, `${prefix}-${travel}`, environment));
      }
    }
    return requests.slice(0, count);
  };
  const figures = new Figures();
  const generator = await service.start('./http-load.ts');
  const common = { url: service.url, token: service.token, connections: 120 };
  await generate(generator, { ...common, requests: await travels('warm', 60), count: 60, perSecond: PER_SECOND });

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const count = Number(options.seconds) * PER_SECOND;
    const events = await travels(`round-${round}`, count);
    const cpu = service.measureCpu();
    const steady = await generate(generator, { ...common, requests: events, count, perSecond: PER_SECOND });
    figures.noteCpu('20/s over 10 domains', cpu(), count);
    figures.note('20/s over 10 domains: p50', quantile(steady.latenciesMs, 0.5), 'ms', '<= 28');
    figures.note('20/s over 10 domains: p95', quantile(steady.latenciesMs, 0.95));
    figures.note('20/s over 10 domains: p99', quantile(steady.latenciesMs, 0.99), 'ms', '<= 150');
    figures.note('20/s over 10 domains: other answers than 200', unexpected(steady, 200), '', '0');

    const releases = Array.from({ length: AT_ONCE }, (_, index) => `burst-${round}-${index}`);
    for (const releaseName of releases) await candidate('burst', releaseName);
    const requests = releases.map((releaseName) => event('burst', releaseName, 'uat'));
    const burstCpu = service.measureCpu();
    const burst = await generate(generator, { ...common, requests, count: AT_ONCE, connections: AT_ONCE });
    figures.noteCpu('100 of one domain at once', burstCpu(), AT_ONCE);
    figures.note('100 of one domain at once: the last answer after', burst.seconds * 1_000);
    figures.note('100 of one domain at once: other answers than 200', unexpected(burst, 200), '', '0');
    const { rows } = await service.database.query<{ n: number }>(
      'select count(*)::int as n from release_deployment where applied_at is null',
    );
    figures.note('100 of one domain at once: not applied', rows[0]?.n ?? 0, '', '0');
  }
  figures.print();
} finally {
  await service.stop();
}
