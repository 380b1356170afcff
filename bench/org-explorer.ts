import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { crmSimulator } from '../test/simulators/crm-org/simulator.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures through the whole stack how long the metadata of an org take from nothing kept to queryable, again with few
 * changes, and pages of the list of a large org; the simulated platform, which runs in this process, answers after
 * 100 ms. Options: `--rounds 3`, `--components 20000`, `--changed 20`, `--listed 200000`, `--pages 300` per round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    components: { type: 'string', default: '20000' },
    changed: { type: 'string', default: '20' },
    listed: { type: 'string', default: '200000' },
    pages: { type: 'string', default: '300' },
  },
});
const COMPONENTS = Number(options.components);
const CHANGED = Number(options.changed);
const LISTED = Number(options.listed);
/** 100 MB in 20,000 classes. */
const CLASS_BYTES = 5_000;
const POLL_MS = 100;

const crm = await crmSimulator([]);
const service = await startService(['crm-v1', 'system-v1']);
const figures = new Figures();

interface Metadata {
  jobId: string | null;
  status: string;
  message: string | null;
  data: { types: { count: number }[]; lastSync: { status: string; filesRetrieved: number } | null };
}

/** Source as people write it: lines that compress to a third or so, different in each class. */
function classSource(name: string, seed: number): string {
  const lines = [`public with sharing class ${name} {`];
  let state = seed;
  while (lines.length < CLASS_BYTES / 62) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    lines.push(`    private static final String FIELD_${state.toString(36)} = '${(state * 7).toString(36)}';`);
  }
  return `${lines.join('\n')}\n}\n`;
}

/** Refreshes an org; answers the seconds until it is queryable and by how many megabytes the worker grew meanwhile. */
async function refresh(place: { repositoryIdentifier: string; orgUsername: string }) {
  const before = service.workerMegabytes();
  let peak = before;
  const startedAt = performance.now();
  await service.call('POST', '/api/orgs/explorer/metadata/refresh', place);
  for (;;) {
    peak = Math.max(peak, service.workerMegabytes());
    const state = await service.call<Metadata>('GET', `/api/orgs/explorer/metadata?${new URLSearchParams(place)}`);
    if (state.status === 'error') throw new Error(state.message ?? 'the refresh failed');
    if (state.jobId === null && state.data.lastSync)
      return { seconds: (performance.now() - startedAt) / 1_000, grownMb: peak - before, sync: state.data.lastSync };
    await sleep(POLL_MS);
  }
}

try {
  const generator = await service.start('./http-load.ts');
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const name = `bench-${round}`;
    const org = await crm.addOrg({ name, kind: 'production' });
    const repositoryIdentifier = `bench/${name}`;
    const place = { repositoryIdentifier, orgUsername: org.username };
    await service.call('POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    await service.call('POST', '/api/environments', { ...place, name: 'prod', category: 'release' });
    await service.call('POST', '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    const write = (index: number, seed: number) =>
      org.metadata.write(`classes/Class${index}.cls`, classSource(`Class${index}`, seed));
    for (let index = 0; index < COMPONENTS; index++) write(index, round * 1_000_003 + index);
    crm.latencyMs = 100;

    const shown = COMPONENTS.toLocaleString('en');
    const cpu = service.measureCpu();
    const first = await refresh(place);
    if (first.sync.filesRetrieved !== 2 * COMPONENTS) throw new Error(JSON.stringify(first.sync));
    figures.note(`${shown} components, empty to queryable`, first.seconds, 's', '<= 90');
    figures.note(`${shown} components: growth of the worker`, first.grownMb, 'MB', '<= 180');
    figures.noteCpu('per component', cpu(), COMPONENTS);
    for (let index = 0; index < CHANGED; index++) write(index * 7, round * 2_000_003 + index);
    const again = await refresh(place);
    if (again.sync.filesRetrieved !== 2 * CHANGED) throw new Error(JSON.stringify(again.sync));
    figures.note(`again with ${CHANGED} changed`, again.seconds, 's', '<= 6');
    crm.latencyMs = 0;

    const { rows } = await service.database.query<{ id: string; platform: string }>(
      'select id, platform_org_id as platform from crm_org where username = $1',
      [org.username],
    );
    const values = [service.tenantId, rows[0]?.id, rows[0]?.platform];
    await service.database.query(
      `insert into org_component (id, tenant_id, org_id, platform_org_id, metadata_type, member_name, last_modified_at)
       select gen_random_uuid(), $1, $2, $3, 'Type' || n % 200, 'Member' || n, now() from generate_series(1, $4::int) n`,
      [...values, LISTED - COMPONENTS],
    );
    await service.database.query(
      `insert into org_component_type (tenant_id, org_id, platform_org_id, metadata_type, component_count, synced_at)
       select $1, $2, $3, 'Type' || n, $4::int / 200, now() from generate_series(0, 199) n`,
      [...values, LISTED - COMPONENTS],
    );
    await service.database.query('analyze org_component, org_component_type');
    const requests: HttpLoad['requests'] = Array.from({ length: 100 }, (_, index) => {
      const cursor = Buffer.from(JSON.stringify([`Type${(index * 37) % 200}`, `Member${index * 991}`]));
      const query = { orgUsername: org.username, limit: '100', cursor: cursor.toString('base64url') };
      return { method: 'GET', path: `/api/orgs/explorer/components/list?${new URLSearchParams(query)}` };
    });
    const load = (count: number) =>
      generate(generator, { url: service.url, token: service.token, connections: 1, requests, count });
    await load(50);
    const pages = await load(Number(options.pages));
    const total = LISTED.toLocaleString('en');
    figures.note(`page of 100 out of ${total}: p50`, quantile(pages.latenciesMs, 0.5));
    figures.note(`page of 100 out of ${total}: p95`, quantile(pages.latenciesMs, 0.95), 'ms', '<= 25');
    figures.note('other answers than 200', unexpected(pages, 200), '', '0');
  }
  figures.print();
} finally {
  await service.stop();
  await crm.close();
}
