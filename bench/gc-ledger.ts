import { parseArgs } from 'node:util';
import { Figures, quantile } from './figures.ts';
import type { HttpLoadResult } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the GC ledger: 10,000 events of one branch against 200 manifests with 100,000 components, at first and
 * repeated, a check of an org for all of them, and the list of 500,000 entries. Options: `--rounds 3`, `--requests 2000`
 * lists per round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, requests: { type: 'string', default: '2000' } },
});
const EVENTS = 10_000;
const PACKAGES = 200;
const COMPONENTS = 500;
const ENTRIES = 500_000;
const CONNECTIONS = 4;

const service = await startService([]);
try {
  const figures = new Figures();
  const makeProject = async (repositoryIdentifier: string) => {
    const { id } = await service.call<{ id: string }>('POST', '/api/projects', {
      identifier: repositoryIdentifier,
      platform: 'host-a',
    });
    for (const [name, category] of [
      ['uat', 'test'],
      ['production', 'release'],
    ])
      await service.call('POST', '/api/environments', {
        repositoryIdentifier,
        name,
        category,
        orgUsername: `${name}@bench`,
      });
    return id;
  };
  const component = (n: number) => ({
    packageName: `package-${n % PACKAGES}`,
    componentType: n % 3 ? 'ApexClass' : 'CustomField',
    fullName: n % 3 ? `Controller_${n}` : `Object_${n}__c.Field_${n}__c`,
  });
  const timed = async (name: string, target: string, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    figures.note(name, (performance.now() - startedAt) / 1_000, 's', target);
  };

  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const repositoryIdentifier = `bench/round-${round}`;
    await makeProject(repositoryIdentifier);
    const collection = `manifests/${repositoryIdentifier}:main`;
    await service.database.query(`insert into document_collection (tenant_id, id, name) values ($1, uuidv7(), $2)`, [
      service.tenantId,
      collection,
    ]);
    // Two fifths of the events are found again: in their own package, in another one, or as destructive changes.
    await service.database.query(
      `insert into document (tenant_id, store, collection, key, version, value, size_bytes, created_at, updated_at, updated_by)
       select $1, 'packages', $2, 'package-' || p, 1, v.value, octet_length(v.value::text), now(), now(), 'bench'
       from generate_series(0, $3 - 1) p,
       lateral (select jsonb_build_object('payload', jsonb_build_object('Package', jsonb_build_object('version', '66.0', 'types',
         (select jsonb_agg(jsonb_build_object('name', t, 'members', (
           select jsonb_agg(case when i >= 20 or t <> 'ApexClass' then t || '_' || p || '_' || i
             else 'Controller_' || (i * 3 + 1) * $3 + (p + i % 2) % $3 end)
           from generate_series(0, $4 / 5 - 1) i)))
         from unnest(array['ApexClass', 'ApexPage', 'CustomField', 'Flow', 'Layout']) t)))) as value) v`,
      [service.tenantId, collection, PACKAGES, COMPONENTS],
    );
    await service.database.query('analyze document');
    const events = Array.from({ length: EVENTS }, (_, n) => ({ type: 'detected', ...component(n) }));
    const report = () =>
      service.call('POST', '/api/gc-ledger/events', { repositoryIdentifier, branch: 'main', events });
    await timed('10,000 new events against 200 manifests', '<= 2', report);
    for (let again = 0; again < 3; again++) await timed('the same events again', '<= 1.2', report);
    const results = events.map(({ type: _, ...event }) => ({ ...event, presence: 'absent' }));
    for (const environment of ['uat', 'production'])
      await timed(`10,000 results of the org of ${environment}`, '', () =>
        service.call('POST', '/api/gc-ledger/org-check', {
          repositoryIdentifier,
          branch: 'main',
          environment,
          results,
        }),
      );
  }

  console.log(`${ENTRIES.toLocaleString('en')} entries`);
  const repositoryIdentifier = 'bench/large';
  const projectId = await makeProject(repositoryIdentifier);
  await service.database.query(
    `insert into gc_entry (tenant_id, id, project_id, branch, package_name, component_type, full_name, status, evidence_since, last_event_at, created_at, updated_at)
     select $1, uuidv7(), $2, case when i % 10 = 0 then 'release/' || i % 7 else 'main' end, 'package-' || i % $4,
       (array['ApexClass', 'CustomField', 'Flow'])[i % 3 + 1], 'Component_' || i,
       case when i % 5000 = 0 then 'dismissed' when i % 4 = 0 then 'handled' when i % 7 = 0 then 'moved' else 'detected' end, now(), now(), now(), now()
     from generate_series(1, $3::int) i`,
    [service.tenantId, projectId, ENTRIES, PACKAGES],
  );
  await service.database.query(
    `insert into gc_event (tenant_id, entry_id, project_id, occurred_at, to_status, cause, changed_by)
     select tenant_id, id, project_id, now(), 'detected', 'event', 'bench' from gc_entry, generate_series(1, 2) where project_id = $1`,
    [projectId],
  );
  await service.database.query('vacuum analyze');
  const generator = await service.start('./http-load.ts');
  const list = (query: string, count: number): Promise<HttpLoadResult> =>
    generate(generator, {
      url: service.url,
      token: service.token,
      requests: [{ method: 'GET', path: `/api/gc-ledger?repositoryIdentifier=${repositoryIdentifier}${query}` }],
      connections: CONNECTIONS,
      count,
    });
  const lists = {
    'first page': '',
    'one branch, detected': '&branch=main&status=detected',
    'open ones': '&status=detected,moved',
    'the few that are dismissed': '&status=dismissed',
    'one package': '&package=package-77',
    'offset 5,000': '&offset=5000',
  };
  for (const query of Object.values(lists)) await list(query, 200);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const [name, query] of Object.entries(lists)) {
      const count = Number(options.requests) / Object.keys(lists).length;
      const cpu = service.measureCpu();
      const { latenciesMs, ...load } = await list(query, count);
      figures.noteCpu(name, cpu(), count);
      figures.note(`${name}: p50`, quantile(latenciesMs, 0.5));
      figures.note(`${name}: p95`, quantile(latenciesMs, 0.95), 'ms', '<= 25');
      figures.note(`${name}: other answers than 200`, unexpected({ latenciesMs, ...load }, 200), '', '0');
    }
  }
  figures.print();
} finally {
  await service.stop();
}
