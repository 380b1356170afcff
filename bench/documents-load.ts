import pg from 'pg';
import { Pool } from 'undici';

/** One kind of call, through the API or as plain SQL on the same tables. */
export interface DocumentsLoad {
  way: 'api' | 'plain';
  /** `equality` finds about 38 documents, `equality of one` one. */
  kind: 'read' | 'update' | 'hot' | 'equality' | 'equality of one';
  url: string;
  databaseUrl: string;
  tenants: { id: string; token: string }[];
  /** Documents of each tenant in the collection, `pkg-0000001` and so on; each has version 1 or what an earlier load left. */
  collection: string;
  documentsEach: number;
  connections: number;
  count: number;
}

export interface DocumentsLoadResult {
  latenciesMs: number[];
  /** Calls by outcome: a status, or 0. */
  statuses: Record<number, number>;
  seconds: number;
}

/** A call answers its status. `worker` numbers the connections. */
type Call = (index: number, worker: number) => Promise<number>;

export const keyOf = (index: number) => `pkg-${String(index + 1).padStart(7, '0')}`;
const teamOf = (index: number) => `team-${index % 500}`;
const nameOf = (index: number, documentsEach: number) => `pkg-${((index * 7_919) % (documentsEach - 1)) + 1}`;
const valueOf = (index: number) => ({
  name: `pkg-${index}`,
  size: index,
  owner: { team: teamOf(index) },
  padding: 'x'.repeat(900),
});
/** Versions that updates of this process have made. */
const versions = new Map<string, number>();

function apiCall({ kind, tenants, collection, documentsEach, connections }: DocumentsLoad, pool: Pool): Call {
  const send = async (tenant: number, method: 'GET' | 'POST', path: string, body?: unknown) => {
    const response = await pool.request({
      method,
      path: `/api/doc-store/collections/${path}`,
      headers: { authorization: `Bearer ${tenants[tenant]?.token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.statusCode, text: await response.body.text() };
  };
  const docs = `${encodeURIComponent(collection)}/docs/`;
  const write = async (tenant: number, place: number) => {
    const name = `${tenant}/${place}`;
    const { status, text } = await send(tenant, 'POST', docs + keyOf(place), {
      value: valueOf(place),
      version: versions.get(name) ?? 1,
    });
    if (status === 200 || status === 409) {
      const { version, currentVersion } = JSON.parse(text) as { version?: number; currentVersion?: number };
      versions.set(name, version ?? currentVersion ?? 1);
    }
    return status;
  };
  switch (kind) {
    case 'read':
      return async (index) =>
        (await send(index % tenants.length, 'GET', docs + keyOf((index * 7_919) % documentsEach))).status;
    case 'update':
      // Each connection has documents of its own, so that none is in conflict.
      return (index, worker) =>
        write(index % tenants.length, ((index * connections) % (documentsEach - connections)) + worker);
    case 'hot':
      return () => write(0, documentsEach - 1);
    case 'equality':
    case 'equality of one':
      return async (index) => {
        const [field, value] =
          kind === 'equality' ? ['owner.team', teamOf(index)] : ['name', nameOf(index, documentsEach)];
        return (
          await send(index % tenants.length, 'POST', 'query', {
            pathPattern: collection,
            filters: [{ field, operator: 'eq', value }],
          })
        ).status;
      };
  }
}

const SELECTED =
  'select collection, key, version, value from document d where tenant_id = $1 and store = $2 and collection = $3';

function plainCall({ kind, tenants, collection, documentsEach, connections }: DocumentsLoad, pool: pg.Pool): Call {
  const ask = (name: string, text: string, tenant: number, values: unknown[]) =>
    pool.query({ name, text, values: [tenants[tenant]?.id, 'doc', collection, ...values] });
  switch (kind) {
    case 'read':
      return async (index) => {
        const { rowCount } = await ask('read', `${SELECTED} and key = $4`, index % tenants.length, [
          keyOf((index * 7_919) % documentsEach),
        ]);
        return rowCount === 1 ? 200 : 404;
      };
    case 'update':
    case 'hot':
      return async (index, worker) => {
        const tenant = index % tenants.length;
        const place = ((index * connections) % (documentsEach - connections)) + worker;
        const name = `${tenant}/${place}`;
        const version = versions.get(name) ?? 1;
        const text =
          'update document set value = $5, version = version + 1, updated_at = now() where tenant_id = $1 and store = $2 and collection = $3 and key = $4 and version = $6';
        const { rowCount } = await ask('update', text, tenant, [keyOf(place), JSON.stringify(valueOf(place)), version]);
        if (rowCount === 1) versions.set(name, version + 1);
        return rowCount === 1 ? 200 : 409;
      };
    case 'equality':
    case 'equality of one': {
      // The tenant and the store stand in the indexed value; named once more, they would lead the planner to another index.
      const text = `select collection, key, version, value from document
        where jsonb_set('{}', array[tenant_id::text || store], value) @> jsonb_build_object($1::text || $2::text, $4::jsonb)
          and collection = $3 order by collection, key limit 100`;
      return async (index) => {
        const content =
          kind === 'equality' ? { owner: { team: teamOf(index) } } : { name: nameOf(index, documentsEach) };
        await ask('equality', text, index % tenants.length, [JSON.stringify(content)]);
        return 200;
      };
    }
  }
}

async function run(load: DocumentsLoad): Promise<DocumentsLoadResult> {
  const { way, url, databaseUrl, connections, count } = load;
  const http = new Pool(url, { connections, pipelining: 1 });
  const database = new pg.Pool({ connectionString: databaseUrl, max: connections });
  const call = way === 'api' ? apiCall(load, http) : plainCall(load, database);
  const latenciesMs: number[] = [];
  const statuses: Record<number, number> = {};
  const startedAt = performance.now();
  let next = 0;
  const work = async (worker: number) => {
    while (next < count) {
      const index = next++;
      const sentAt = performance.now();
      const status = await call(index, worker).catch(() => 0);
      latenciesMs.push(performance.now() - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, worker) => work(worker)));
  const seconds = (performance.now() - startedAt) / 1_000;
  await Promise.all([http.close(), database.end()]);
  return { latenciesMs, statuses, seconds };
}

process.on('message', (load: DocumentsLoad) => {
  void run(load).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
