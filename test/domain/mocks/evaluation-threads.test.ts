import fc from 'fast-check';
import { type Compiled, decideBatch } from '../../../domain/mocks/decide-batch.ts';
import { patternWork } from '../../../domain/events/webhooks/pattern-work.ts';
import type { Step } from '../../../domain/mocks/scenarios/step-rules.ts';
import { evaluate, type Verdict, wholeBudget } from '../../../domain/mocks/serving/evaluate.ts';
import { createEvaluationThreads } from '../../../domain/mocks/serving/evaluation-threads.ts';
import { mockRequest } from '../../../domain/mocks/serving/mock-request.ts';
import { compileSteps } from '../../../domain/mocks/serving/replay.ts';
import { Turns } from '../../../domain/kernel/shared/turns.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const threads = createEvaluationThreads();
afterAll(() => threads.close());

let scenarios = 0;
async function knownOf(steps: readonly Step[], mode: 'any' | 'strict' | 'perEndpoint' = 'any'): Promise<Compiled> {
  const run = { name: '', revision: 0, cursor: 0, hits: new Map(), variables: { kept: 'v' }, matched: 0, unmatched: 0 };
  return {
    workspace: 'w',
    scenario: { id: `s${++scenarios}`, version: 1, seed: 1, unmatched: 'not_found' } as Compiled['scenario'],
    steps: await compileSteps(mode, steps),
    bodies: new Map(
      steps.flatMap(({ seq, response: { body } }) =>
        body === undefined ? [] : [[seq, { body: Buffer.from(JSON.stringify(body)), bodyForm: 'json' as const }]],
      ),
    ),
    runs: new Map([['', run]]),
  };
}

const stepOf = (request: Partial<Step['request']> = {}, response: Partial<Step['response']> = {}): Step => ({
  seq: 1,
  request: { method: 'POST', path: '/**', ...request },
  response: { status: 200, ...response },
  times: null,
});

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const posted = (
  bytes: Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
  target = '/a',
) => mockRequest('POST', target, headers, bytes);

const word = fc.constantFrom('a', 'b', 'ab', 'a1', '', 'select x from y');
const wanted = fc.oneof(
  word,
  fc.integer({ min: 0, max: 3 }),
  fc.record({ regex: fc.constantFrom('a+', '^b', '[', '\\d$', '(a?){480}[^a]') }),
  fc.record({ in: fc.array(word, { maxLength: 3 }) }),
  fc.record({ gt: fc.integer({ min: 0, max: 3 }) }),
);
const check = fc.oneof(
  fc.record({ contains: word }),
  fc.record({ eq: word, ignoreCase: fc.boolean() }),
  fc.record({ jsonPath: fc.constantFrom('$.x', '$..[?@.x]', '$.list[*]') }),
  fc.record({ json: fc.record({ x: wanted }), extra: fc.constant(true) }),
  fc.constant({ xml: '<a><b/></a>' }),
);
const anyStep = fc.record({
  request: fc.record(
    {
      method: fc.constantFrom('*', 'POST', 'GET'),
      path: fc.constantFrom('/**', '/a', '/{id}', '/b/*'),
      headers: fc.record({ 'x-a': wanted }),
      query: fc.record({ q: wanted }),
      body: fc.record({ x: wanted }),
      checks: fc.array(fc.record({ of: fc.constant('body' as const), is: check }), { maxLength: 2 }),
      captures: fc.constant({ whole: 'body', x: 'body.x', id: 'path.id' }),
    },
    { requiredKeys: ['method', 'path'] },
  ),
  response: fc.record(
    {
      status: fc.constantFrom(200, 201),
      template: fc.boolean(),
      headers: fc.constant({ 'x-b': '{{ request.body.x }}', 'x-c': ['{{ state.kept }}'] }),
      body: fc.constant({ x: 1, text: '{{ uuid }}' }),
      echo: fc.constant({ x: 'body.x' }),
      sets: fc.constant({ seen: '{{ request.query.q }}' }),
      validates: fc.constantFrom({ body: { required: ['x'] } }, { query: { properties: { q: { type: 'integer' } } } }),
    },
    { requiredKeys: ['status'] },
  ),
});
const anyRequest = fc.record({
  target: fc.constantFrom('/a', '/a?q=1', '/b/c?q=a&q=b', '/zz?q=a1'),
  headers: fc.record(
    { 'x-a': word, 'content-type': fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'x') },
    { requiredKeys: [] },
  ),
  bytes: fc.oneof(
    fc.record({ x: fc.oneof(word, fc.integer({ min: 0, max: 4 })), list: fc.array(word, { maxLength: 3 }) }).map(json),
    fc
      .constantFrom('x=1&y=a', '<a> <b></b></a>', 'ab', '', '[', `[${'{"x":1},'.repeat(9_000)}1]`)
      .map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  ),
});

const compiles = (step: Omit<Step, 'seq' | 'times'>): Promise<boolean> =>
  compileSteps('any', [{ ...step, seq: 1, times: null }]).then(
    () => true,
    () => false,
  );

test('a thread says the same to a request as the process itself', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 1, maxLength: 5 }),
      fc.array(anyRequest, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('any' as const, 'strict' as const, 'perEndpoint' as const),
      async (all, requests, mode) => {
        const usable = [];
        for (const step of all) if (await compiles(step as never)) usable.push(step);
        const steps = usable.map((step, at) => ({ ...step, seq: at + 1, times: null }) as unknown as Step);
        const known = await knownOf(steps, mode);
        const [run] = known.runs.values();
        for (const { target, headers, bytes } of requests) {
          const ask = () => ({
            request: posted(bytes, headers, target),
            run: run as NonNullable<typeof run>,
            wantsNearest: true,
            now: '2026-01-01T00:00:00.000Z',
            uuid: 'one',
          });
          const work = patternWork(Number.MAX_SAFE_INTEGER);
          const here = await evaluate(known, ask(), { begin: wholeBudget(work), turns: new Turns(Infinity) });
          const there = await threads.evaluate('tenant', known, ask());
          expect({ ...there, verdict: plain(there.verdict) }).toEqual({ verdict: plain(here), used: work.used() });
        }
      },
    ),
    propertyRuns(40, 2_000),
  );
});

/** Bytes that come from a thread are no `Buffer`. */
const plain = (verdict: Verdict) => {
  const bytes = verdict.kind === 'step' ? verdict.use.rendered?.body : undefined;
  return structuredClone({ verdict, bytes: bytes && Buffer.from(bytes).toString('latin1') });
};

const COSTLY = stepOf({ headers: { 'x-a': { regex: '(a?){480}[^a]' } } });
const costly = () => ({ request: posted(Buffer.alloc(0), { 'x-a': 'a'.repeat(400) }), run: '' });
const cheap = () => ({ request: posted(Buffer.alloc(0), { 'x-a': 'b' }), run: '' });

test('what takes more than a few ms is evaluated in a thread, and by nobody where there is none', async () => {
  const known = await knownOf([COSTLY]);
  const [slow, last] = [costly(), cheap()];
  await expect(decideBatch('t1', known, [slow, last])).resolves.toMatchObject({ replies: new Map(), isSlowNext: true });
  const withThread = await decideBatch('t1', known, [slow, last], threads.evaluate);
  expect(withThread.replies.get(slow)).toMatchObject({ kind: 'unmatched' });
});

test('one that takes long does not keep those before it waiting', async () => {
  const [first, slow] = [cheap(), costly()];
  const decided = await decideBatch('t2', await knownOf([COSTLY]), [first, slow], threads.evaluate);
  expect([...decided.replies.keys()]).toEqual([first]);
});

test('a request whose thread passes its deadline or takes too much memory is cut, and its tenant waits', async () => {
  const late = createEvaluationThreads({ deadlineMs: 0 });
  try {
    const one = costly();
    const { replies } = await decideBatch('t3', await knownOf([COSTLY]), [one], late.evaluate);
    expect(replies.get(one)).toMatchObject({
      kind: 'too_costly',
      reason: 'it takes too long to evaluate the steps for this request',
    });
    const next = cheap();
    const after = await decideBatch('t3', await knownOf([COSTLY]), [next]);
    expect(after.replies.get(next)).toMatchObject({ kind: 'not_now', error: { code: 'rate_limited' } });
  } finally {
    await late.close();
  }
});

test('a request whose thread dies is told to come again, and the others of its batch are answered', async () => {
  const dying = createEvaluationThreads({}, new URL('data:text/javascript,process.exit()'));
  try {
    const [one, other] = [costly(), cheap()];
    const known = await knownOf([COSTLY]);
    const { replies } = await decideBatch('t4', known, [one, other], dying.evaluate);
    expect(replies.get(one)).toMatchObject({ kind: 'not_now', error: { code: 'unavailable' } });
    known.isSlow = false;
    const again = await decideBatch('t4', known, [other], dying.evaluate);
    expect(again.replies.get(other)).toMatchObject({ kind: 'step' });
  } finally {
    await dying.close();
  }
});

test('variables of a large body are written as often as there is room for them, and use work', async () => {
  const captures = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`v${at}`, 'body']));
  const known = await knownOf([stepOf({ captures })]);
  const one = { request: posted(Buffer.from(`[${'{},'.repeat(40_000)}1]`)), run: '' };
  const { replies } = await decideBatch('t5', known, [one], threads.evaluate);
  expect(replies.get(one)).toMatchObject({ kind: 'too_costly' });
});

test('JSON that is too large to be read is a text to templates', async () => {
  const known = await knownOf([stepOf({}, { template: true, headers: { 'x-a': '{{ request.method }}' } })]);
  const one = { request: posted(Buffer.from(`[${'{},'.repeat(50_000)}1]`)), run: '' };
  const { replies } = await decideBatch('t6', known, [one], threads.evaluate);
  expect(replies.get(one)).toMatchObject({ kind: 'step', hit: { use: { rendered: { headers: { 'x-a': 'POST' } } } } });
});

test('others have their turn while many patterns are compiled', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const headers = { 'x-a': { regex: '(a?){480}[^a]' } };
  await compileSteps(
    'any',
    Array.from({ length: 100 }, (_, at) => ({ ...stepOf({ headers }), seq: at + 1 })),
  );
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
});
