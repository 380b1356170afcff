import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seedTrail } from './audit-seed.ts';
import { measureWrites } from './audit-writes.ts';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures the audit trail: what an entry adds to a change, and over a long trail each filter of the list, the check
 * of the chain and an export. Options: `--rounds 3`, `--entries 1000000`.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, entries: { type: 'string', default: '1000000' } },
});
const ENTRIES = Number(options.entries);
const CONNECTIONS = 4;
const CALLS = 400;
const FILTERS: Record<string, string> = {
  'no filter': '',
  source: 'source=flow',
  'whole action': 'action=flow.started',
  'beginning of an action': 'action=release_candidate.',
  actor: 'actor=person7%40bench.example',
  repository: 'repositoryIdentifier=bench%2Frepository-3',
  entity: 'entityId=entity-4711',
  'thirty days': `from=${daysAgo(60)}&to=${daysAgo(30)}`,
};

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

const service = await startService(['audit-v1']);
try {
  const figures = new Figures();
  const rounds = Number(options.rounds);
  for (let round = 1; round <= rounds; round++) {
    console.log(`round ${round}: changes`);
    await measureWrites(service, figures);
  }
  console.log(`making ${ENTRIES.toLocaleString('en')} entries`);
  await seedTrail(service.database, service.tenantId, ENTRIES);
  const generator = await service.start('./http-load.ts');
  const calls = async (query: string, count: number) =>
    generate(generator, {
      url: service.url,
      token: service.ownerToken,
      requests: [{ method: 'GET', path: `/api/audit?${query}` }],
      connections: CONNECTIONS,
      count,
    });
  for (let round = 1; round <= rounds; round++) {
    console.log(`round ${round}: list, check, export`);
    for (const [name, query] of Object.entries(FILTERS)) {
      await calls(query, 40);
      const cpu = service.measureCpu();
      const result = await calls(query, CALLS);
      figures.noteCpu(`list by ${name}`, cpu(), CALLS);
      figures.note(`list by ${name}: p95`, quantile(result.latenciesMs, 0.95), 'ms', '<= 30');
      figures.note('list: other answers than 200', unexpected(result, 200), '', '0');
    }
    const checkCpu = service.measureCpu();
    const checkBegunAt = performance.now();
    const { checked, isIntact } = await service.call<{ checked: number; isIntact: boolean }>(
      'GET',
      '/api/audit/verify',
    );
    if (!isIntact) throw new Error('the trail is broken');
    figures.note(
      'check of the chain: entries per second',
      checked / ((performance.now() - checkBegunAt) / 1_000),
      '/s',
      '>= 100000',
    );
    figures.noteCpu('check, per entry', checkCpu(), checked);
    const before = service.workerMegabytes();
    let peak = before;
    const exportCpu = service.measureCpu();
    const exportBegunAt = performance.now();
    const { id } = await service.call<{ id: string }>('POST', '/api/audit/exports', {});
    for (;;) {
      const { status, rowCount } = await service.call<{ status: string; rowCount: number }>(
        'GET',
        `/api/audit/exports/${id}`,
      );
      peak = Math.max(peak, service.workerMegabytes());
      if (status === 'failed') throw new Error('the export failed');
      if (status === 'completed') {
        figures.note('export: rows', rowCount, '');
        break;
      }
      await sleep(50);
    }
    figures.note(
      `export of ${ENTRIES.toLocaleString('en')}: seconds`,
      (performance.now() - exportBegunAt) / 1_000,
      's',
      '<= 20',
    );
    figures.noteCpu('export, per entry', exportCpu(), ENTRIES);
    figures.note('export: growth of the worker', peak - before, 'MB', '<= 150');
  }
  figures.print();
} finally {
  await service.stop();
}
