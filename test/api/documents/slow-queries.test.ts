import fc from 'fast-check';
import pg from 'pg';
import { expressionProblem } from '../../../domain/documents/expression-rules.ts';
import { type TestApp, testApp } from '../../support/app.ts';
import { eventually } from '../../support/worker.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
  await app.sql(
    `insert into document_collection (tenant_id, id, name) select tenant.id, uuidv7(), collection from tenant, unnest(array['texts', 'long']) collection`,
  );
  // Compressing these texts takes longer than all else here.
  await app.sql('alter table document alter column value set storage external');
  await app.sql(
    `insert into document
     select id, 'doc', 'texts', 'k' || n, 1, jsonb_build_object('text', repeat('abcdefgh', 12000)), 100000, now(), now(), 'test'
     from tenant, generate_series(1, 20) n`,
  );
});
afterAll(() => app.close());

const PATH = '/api/doc-store/collections/query';
const bodyOf = (value: string) => ({ pathPattern: 'texts', filters: [{ field: 'text', operator: 'regex', value }] });
/** Tries every way to cut the text into three, of which none fits. */
const HOSTILE = bodyOf('^(.+)(.+)(.+)\\3\\2\\1gh$');
const REFUSED = ['(', '[z-a]', 'a{3,1}', '((((a?){255}){255}){255})', '^(.?.?.?.?.?.?.?.?){1,200}x$', '*'];

const running = async (): Promise<number> => {
  const [row] = await app.sql<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where state = 'active' and pid <> pg_backend_pid() and datname = current_database() and query like '%~ $%'`,
  );
  return row?.count ?? -1;
};

const ask = (signal: AbortSignal, body: object) =>
  fetch(app.url + PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.owner.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });

test('of twenty hostile expressions of a tenant two run, ten wait, the others get 429, and nobody else waits', async () => {
  const gone = new AbortController();
  const answers: { status: number; headers: Headers; body: unknown }[] = [];
  const hostile = Array.from({ length: 20 }, async () => {
    const response = await ask(gone.signal, HOSTILE);
    answers.push({ status: response.status, headers: response.headers, body: await response.json() });
  });
  await eventually(
    async () => answers.filter(({ status }) => status === 429).length,
    (count) => count === 8,
  );
  await eventually(running, (count) => count === 2);
  // No place is needed to refuse an expression.
  for (const expression of REFUSED) await app.as(app.owner).post(400, PATH, bodyOf(expression));
  for (let time = 0; time < 20; time++) await app.as(app.stranger).get(200, '/api/projects');
  expect(await app.as(app.stranger).post(200, PATH, bodyOf('^abc.*h$'))).toHaveLength(20);
  // They have been running for their two seconds, and their places rest.
  await eventually(
    async () => answers.filter(({ status }) => status === 400).length,
    (count) => count >= 2,
  );
  gone.abort();
  await Promise.allSettled(hostile);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: 'rate_limited' });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  // Those that waited have left the line.
  expect(await app.as(app.owner).post(200, PATH, bodyOf('^abc.*h$'))).toHaveLength(20);
});

test('a client that leaves does not keep the database busy', async () => {
  const query = { pathPattern: 'texts', filters: [{ field: 'text', operator: 'ne', value: '' }] };
  const holder = new pg.Client(app.databaseUrl);
  await holder.connect();
  try {
    // Queries of this file wait for the lock, and both have the same time limit.
    await holder.query('begin; lock table document in access exclusive mode');
    let isAnswered = false;
    const stays = ask(new AbortController().signal, query).finally(() => (isAnswered = true));
    const gone = new AbortController();
    const waiting = (seconds: number) => async () => {
      const [row] = await app.sql<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database() and now() - query_start > make_interval(secs => ?)`,
        [seconds],
      );
      return row?.count ?? -1;
    };
    // Nothing that is only tried runs so long.
    await eventually(waiting(1), (count) => count === 1);
    const leaves = ask(gone.signal, query);
    await eventually(waiting(0), (count) => count === 2);
    gone.abort();
    await expect(leaves).rejects.toThrow();
    await eventually(waiting(0), (count) => count === 1);
    // Its time limit cannot have ended it: the one that began before it is still running.
    expect(isAnswered).toBe(false);
    await holder.query('rollback');
    expect((await stays).status).toBe(200);
  } finally {
    await holder.end();
  }
});

test.each([
  '^abc.*h$',
  '(?i)ABCDEFGH',
  '\\mabcdefgh',
  'a(?=bcdefgh)',
  '[[:alpha:]]+',
  '(ab)cdefgh\\1',
  'abcdefgh{1,3}',
])('the expression %s finds what PostgreSQL finds', async (value) => {
  expect(await app.as(app.owner).post(200, PATH, { ...bodyOf(value), limit: 5 })).toHaveLength(5);
});

test.each(REFUSED)('the expression %s is refused', async (value) => {
  const { errors } = await app.as(app.owner).post(400, PATH, bodyOf(value));
  expect(errors).toEqual([expect.objectContaining({ pointer: '#/body/filters/0/value' })]);
});

/** Separated by white space, which two of them are. */
const PIECES = String.raw`
  a é 😀 1 2 , - | ^ $ . * + ? # \ ( ) (?: (?= (?! (?<= (?<! (?# (? (?i) (?x) (?q) (?xt) *** ***: ***=
  [ [^ ] [a-z] [z-a] [a- -- [:alpha:] [:no:] [.a.] [=a=] [[:<:]] :] .] { } {2} {1,2} {2,1} {3,} {256} {0} {2,x}
  \d \D \m \A \1 \2 \10 \12 \0 \400 \8 \89 \u0041 \x41 \q \c`
  .trim()
  .split(/\s+/)
  .concat(' ', '\n');

test('PostgreSQL takes the expressions that are taken, and refuses those that are refused', async () => {
  const expressions = fc.sample(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join('')),
    3_000,
  );
  await app.sql(
    `create function refused(expression text) returns boolean language plpgsql as
     'begin perform $1 ~ $1; return false; exception when invalid_regular_expression then return true; end'`,
  );
  const found = await app.sql<{ expression: string; isRefused: boolean }>(
    `select e as expression, refused(e) as "isRefused" from jsonb_array_elements_text(?::jsonb) e`,
    [JSON.stringify(expressions)],
  );
  expect(found).toEqual(
    expressions.map((expression) => ({ expression, isRefused: expressionProblem(expression) !== undefined })),
  );
});
