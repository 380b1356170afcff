import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { Figures, quantile } from './figures.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures what the slow reads of one tenant cost another one: ordinary requests of the other tenant alone, and beside
 * queries of the first one that are sent again as soon as they are answered. Options: `--rounds 3`, `--hostile 20` at a
 * time, `--seconds 12` of each measurement, `--per-second 50` ordinary requests, `--only` kinds of queries.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    hostile: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '12' },
    'per-second': { type: 'string', default: '50' },
    only: { type: 'string' },
  },
});
const DOCUMENTS = 100_000;
const perSecond = Number(options['per-second']);

const filtered = (...filters: object[]) => ({ pathPattern: '**', filters });
const regex = (field: string, value: string) => ({ field, operator: 'regex', value });
/** The body of the nth query of a kind. */
const KINDS: Record<string, (n: number) => object> = {
  'a plain expression over many documents': (n) => filtered(regex('name', `no-such-${n}$`)),
  'back-references in a long text': () => filtered(regex('text', '^(.*)(.*)(.*)(.*)\\1\\2\\3\\4x$')),
  'large repetitions': (n) => filtered(regex('name', `^(.?.?.?.?.?.?.?.?){1,${200 + (n % 50)}}x$`)),
  'twenty expressions': (n) =>
    filtered(...Array.from({ length: 20 }, (_, at) => regex('name', `^(?!(a|b|${n}-${at})*x).*$`))),
  'a comparison over many documents': (n) => filtered({ field: 'size', operator: 'lt', value: -n }),
  'a sort over many documents': () => ({
    pathPattern: '**',
    sort: [{ field: 'padding' }, { field: 'name', direction: 'desc' }],
    offset: 90_000,
  }),
};

const service = await startService([]);
try {
  const other = await service.addTenant('other');
  for (const tenantId of [service.tenantId, other.tenantId]) {
    await service.database.query(
      `insert into document_collection (tenant_id, id, name) values ($1, uuidv7(), 'catalog')`,
      [tenantId],
    );
    await service.database.query(
      `insert into document
       select $1::uuid, 'doc', 'catalog', 'pkg-' || lpad(i::text, 7, '0'), 1, jsonb_build_object(
         'name', 'pkg-' || i, 'size', i % 1000, 'padding', repeat(md5(i::text), 8),
         'text', case when i % 1000 = 0 then repeat('abcdefgh', 10000) else '' end), 1000, now(), now(), 'bench'
       from generate_series(1, $2::int) i`,
      [tenantId, DOCUMENTS],
    );
  }
  await service.database.query('vacuum analyze');
  const generator = await service.start('./http-load.ts');
  const requests = [
    { method: 'GET' as const, path: '/api/doc-store/collections/catalog/docs/pkg-0000077' },
    { method: 'GET' as const, path: '/api/projects' },
    { method: 'GET' as const, path: '/api/doc-store/collections/catalog/docs?limit=20' },
    {
      method: 'POST' as const,
      path: '/api/doc-store/collections/query',
      body: filtered({ field: 'name', operator: 'eq', value: 'pkg-77' }),
    },
  ];
  const ordinary = (seconds: number) =>
    generate(generator, {
      url: service.url,
      token: other.token,
      requests,
      connections: 16,
      count: perSecond * seconds,
      perSecond,
    });
  const seconds = Number(options.seconds);
  await ordinary(2);
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const kind of options.only === undefined ? Object.keys(KINDS) : options.only.split(',')) {
      const alone = await ordinary(seconds);
      const attack = beginAttack(service.url, service.token, KINDS[kind] ?? (() => ({})));
      const cpu = service.measureCpu();
      const beside = await ordinary(seconds);
      const used = cpu();
      const statuses = await attack.end();
      // Places that rest are free again.
      await sleep(5_000);
      const [before, after] = [quantile(alone.latenciesMs, 0.5), quantile(beside.latenciesMs, 0.5)];
      figures.note(`${kind}: p50 alone`, before);
      figures.note(`${kind}: p50 beside them`, after);
      figures.note(`${kind}: growth`, after / before, 'x', '<= 1.5');
      figures.note(`${kind}: p95 beside them`, quantile(beside.latenciesMs, 0.95));
      figures.note(`${kind}: other answers than 200`, unexpected(alone, 200) + unexpected(beside, 200), '', '0');
      figures.note(`${kind}: CPU of PostgreSQL`, (used.PostgreSQL ?? 0) / seconds / 10, '%');
      console.log(kind, JSON.stringify(statuses));
    }
  }
  figures.print();
} finally {
  await service.stop();
}

/** Keeps so many queries under way; `end` leaves those that are, and counts the answers by status. */
function beginAttack(url: string, token: string, bodyOf: (n: number) => object) {
  const pool = new Pool(url, { connections: 64 });
  const statuses: Record<number, number> = {};
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const over = new AbortController();
  let sent = 0;
  const one = async () => {
    while (!over.signal.aborted) {
      const path = '/api/doc-store/collections/query';
      try {
        const { statusCode, body } = await pool.request({
          method: 'POST',
          path,
          headers,
          body: JSON.stringify(bodyOf(sent++)),
          signal: over.signal,
        });
        await body.dump();
        statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
        // Who ignores Retry-After altogether would measure the refusals.
        if (statusCode === 429) await sleep(200);
      } catch (error) {
        if (!over.signal.aborted) throw error;
      }
    }
  };
  const running = Array.from({ length: Number(options.hostile) }, one);
  return {
    async end() {
      over.abort();
      await Promise.all(running);
      await pool.close();
      return statuses;
    },
  };
}
