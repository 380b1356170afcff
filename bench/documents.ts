import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { DocumentsLoad, DocumentsLoadResult } from './documents-load.ts';
import { Figures, quantile } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures the document store through the whole stack, and plain SQL on the same tables beside it: reads by key,
 * conditional updates, queries, pages by cursor, and a whole collection as a stream. Options: `--rounds 3`,
 * `--documents 500000` in all, `--requests 20000` per kind and round, `--only reads,updates,equality,ranges,pages,stream`.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    documents: { type: 'string', default: '500000' },
    requests: { type: 'string', default: '20000' },
    only: { type: 'string', default: 'reads,updates,equality,ranges,pages,stream' },
  },
});
const TENANTS = 20;
const total = Number(options.documents);
const requests = Number(options.requests);
const LARGE = total / 5;
const RANGED = total / 20;
const EACH = (total - LARGE - RANGED) / TENANTS;

const service = await startService([]);
try {
  const figures = new Figures();
  const tenants = await Promise.all(Array.from({ length: TENANTS }, (_, n) => service.addTenant(`bench-${n}`)));
  const owner = tenants[0] as (typeof tenants)[number];
  console.log(`${total.toLocaleString('en')} documents`);
  const seed = async (tenantId: string, collection: string, count: number) => {
    await service.database.query('insert into document_collection (tenant_id, id, name) values ($1, uuidv7(), $2)', [
      tenantId,
      collection,
    ]);
    await service.database.query(
      `insert into document
       select $1::uuid, 'doc', $2, 'pkg-' || lpad(i::text, 7, '0'), 1, jsonb_build_object(
         'name', 'pkg-' || i, 'size', i * 7919 % 100000, 'license', (array['MIT', 'ISC', 'Apache-2.0'])[i % 3 + 1],
         'owner', jsonb_build_object('team', 'team-' || i % 500, 'email', md5(i::text) || '@example.com'),
         'tags', jsonb_build_array('a' || i % 10, 'b' || i % 11), 'padding', repeat(md5((i + 1)::text), 24)), 1000, now(), now(), 'bench'
       from generate_series(1, $3::int) i`,
      [tenantId, collection, count],
    );
  };
  for (const { tenantId } of tenants) await seed(tenantId, 'catalog', EACH);
  await seed(owner.tenantId, 'ranged', RANGED);
  await seed(owner.tenantId, 'large', LARGE);
  await service.database.query('vacuum analyze');

  const generator = await service.start('./documents-load.ts');
  const load = async (
    way: DocumentsLoad['way'],
    kind: DocumentsLoad['kind'],
    connections: number,
    count: number,
  ): Promise<DocumentsLoadResult> => {
    const result = once(generator, 'message');
    const { url, databaseUrl } = service;
    generator.send({
      way,
      kind,
      url,
      databaseUrl,
      tenants: tenants.map(({ tenantId: id, token }) => ({ id, token })),
      collection: 'catalog',
      documentsEach: EACH,
      connections,
      count,
    } satisfies DocumentsLoad);
    return (await result)[0] as DocumentsLoadResult;
  };
  const others = ({ statuses }: DocumentsLoadResult, ...expected: number[]) =>
    Object.entries(statuses).reduce((sum, [status, count]) => sum + (expected.includes(Number(status)) ? 0 : count), 0);
  const post = async (path: string, body: object) => {
    const startedAt = performance.now();
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    return { ms: performance.now() - startedAt, link: /^<([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1] };
  };
  const compare = async (kind: DocumentsLoad['kind'], connections: number, count: number, target: string) => {
    const cpu = service.measureCpu();
    const api = await load('api', kind, connections, count);
    figures.noteCpu(kind, cpu(), count);
    const plainCpu = service.measureCpu();
    const plain = await load('plain', kind, connections, count);
    figures.noteCpu(`${kind}: plain SQL`, plainCpu(), count);
    figures.note(`${kind}: plain SQL`, count / plain.seconds, '/s');
    figures.note(`${kind}: API to plain SQL`, (count / api.seconds / (count / plain.seconds)) * 100, '%', target);
    return api;
  };

  const reads = async () => {
    const read = await compare('read', 32, requests, '>= 25');
    figures.note('read by key, 32 connections', requests / read.seconds, '/s', '>= 2500');
    figures.note('read by key: p95', quantile(read.latenciesMs, 0.95), 'ms', '<= 25');
    figures.note('read by key: other answers than 200', others(read, 200), '', '0');
  };

  const updates = async () => {
    const update = await compare('update', 32, requests / 2, '');
    figures.note('conditional update, 32 connections', requests / 2 / update.seconds, '/s', '>= 1200');
    figures.note('conditional update: p95', quantile(update.latenciesMs, 0.95), 'ms', '<= 40');
    figures.note('conditional update: other answers than 200 and 409', others(update, 200, 409), '', '0');
    const hot = await load('api', 'hot', 16, 2_000);
    figures.note('one document by 16 writers: updates', (hot.statuses[200] ?? 0) / hot.seconds, '/s');
    figures.note('one document by 16 writers: other answers than 200 and 409', others(hot, 200, 409), '', '0');
  };

  const equality = async () => {
    const matches = [
      ['equality', '38 documents match', '>= 60', '<= 12'],
      ['equality of one', 'one document matches', '', '<= 10'],
    ] as const;
    for (const [kind, name, share, p95] of matches) {
      const found = await compare(kind, 8, requests / 10, share);
      figures.note(`equality that ${name}, 8 connections: rate`, requests / 10 / found.seconds, '/s');
      for (const quantileOf of [0.5, 0.95])
        figures.note(
          `equality that ${name}: p${quantileOf * 100}`,
          quantile(found.latenciesMs, quantileOf),
          'ms',
          quantileOf === 0.95 ? p95 : '',
        );
      figures.note(`equality that ${name}: other answers than 200`, others(found, 200), '', '0');
    }
  };

  const ranges = async () => {
    const latencies: number[] = [];
    const cpu = service.measureCpu();
    for (let n = 0; n < 50; n++) {
      const filters = [{ field: 'size', operator: 'gte', value: 50_000 + n * 500 }];
      const sort = [{ field: 'size', direction: 'desc' }];
      latencies.push((await post('/api/doc-store/collections/query', { pathPattern: 'ranged', filters, sort })).ms);
    }
    const name = `range and sort in a collection of ${RANGED.toLocaleString('en')}`;
    figures.note(`${name}: p95`, quantile(latencies, 0.95), 'ms', '<= 60');
    figures.noteCpu(name, cpu(), latencies.length);
  };

  const pages = async () => {
    const latencies: number[] = [];
    const cpu = service.measureCpu();
    for (
      let path: string | undefined = '/api/doc-store/collections/query';
      path !== undefined && latencies.length < 100;
    ) {
      const { ms, link } = await post(path, { pathPattern: 'large' });
      latencies.push(ms);
      path = link;
    }
    figures.note('page of 100 by cursor, the first ten: median', quantile(latencies.slice(0, 10), 0.5));
    figures.note(
      'page of 100 by cursor, the 90th to 100th: median',
      quantile(latencies.slice(-10), 0.5),
      'ms',
      'first ± 30 %',
    );
    figures.noteCpu('page of 100 by cursor', cpu(), latencies.length);
  };

  const stream = async () => {
    const before = service.apiMegabytes();
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, service.apiMegabytes());
    }, 20);
    const cpu = service.measureCpu();
    const startedAt = performance.now();
    const response = await fetch(`${service.url}/api/doc-store/collections/large`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    for await (const _ of response.body ?? []);
    clearInterval(watch);
    const perSecond = LARGE / ((performance.now() - startedAt) / 1_000);
    figures.note(`stream of ${LARGE.toLocaleString('en')} documents`, perSecond, '/s', '>= 30000');
    figures.note('stream: growth of the API', peak - before, 'MB', '<= 80');
    figures.noteCpu('stream, per document', cpu(), LARGE);
  };

  const measurements = new Map(Object.entries({ reads, updates, equality, ranges, pages, stream }));
  await load('api', 'read', 32, 2_000);
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const name of options.only.split(',')) await measurements.get(name)?.();
  }
  figures.print();
} finally {
  await service.stop();
}
