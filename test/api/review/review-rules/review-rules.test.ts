import { type TestApp, testApp } from '../../../support/app.ts';
import { idleEngine } from '../../../support/launch.ts';
import { reviewStage } from '../../../support/review.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const RULES = '/api/review/pools/assign';
const toPool = (more: object = {}) => ({ targetType: 'pool', poolTag: 'review', ...more });

async function stage() {
  const made = await reviewStage(app);
  await app.as(app.owner).post(201, '/api/environments', {
    repositoryIdentifier: made.repositoryIdentifier,
    name: 'uat',
    category: 'test',
  });
  return made;
}

test('a rule is made, read, changed and deleted', async () => {
  const { repositoryIdentifier, rule } = await stage();
  const made = await rule(
    toPool({ branchPattern: 'feature/*', domainPattern: 'sales', domainPatterns: ['web', 'api', 'web'] }),
  );
  expect(made).toMatchObject({
    repositoryIdentifier,
    targetType: 'pool',
    poolTag: 'review',
    poolType: 'SCRATCH_ORG',
    environmentName: null,
    branchPattern: 'feature/*',
    domainPattern: null,
    domainPatterns: ['api', 'sales', 'web'],
    priority: 0,
    description: '',
    isActive: true,
    version: 1,
    createdBy: app.owner.email,
  });
  const path = `${RULES}/${made.id}`;
  const member = app.as(app.member);
  await expect(member.get(200, path)).resolves.toEqual(made);
  const owner = app.as(app.owner);
  const changed = await owner.put(200, path, { priority: 7, domainPattern: 'sales', version: 1 });
  expect(changed).toMatchObject({
    ...made,
    priority: 7,
    domainPattern: 'sales',
    domainPatterns: ['sales'],
    version: 2,
    updatedAt: expect.any(String),
  });
  // As it was read, it can be sent back.
  await expect(owner.put(200, path, changed)).resolves.toMatchObject({ domainPatterns: ['sales'], priority: 7 });
  // What is taken out of it is gone.
  const read = await member.get(200, path);
  await expect(owner.put(200, path, { ...read, domainPatterns: ['hr'] })).resolves.toMatchObject({
    domainPatterns: ['hr'],
  });
  const { version: _, ...shown } = { ...read, domainPattern: 'hr', domainPatterns: [] };
  await expect(owner.put(200, path, shown)).resolves.toMatchObject({ domainPattern: null, domainPatterns: [] });
  await owner.put(200, path, { domainPattern: 'sales' });
  await expect(owner.put(409, path, { priority: 8, version: 1 })).resolves.toMatchObject({ code: 'version_conflict' });
  await expect(owner.put(200, path, { targetType: 'environment', environmentName: 'uat' })).resolves.toMatchObject({
    targetType: 'environment',
    poolTag: null,
    poolType: null,
    environmentName: 'uat',
    domainPatterns: ['sales'],
  });
  await expect(owner.put(200, path, { domainPatterns: [] })).resolves.toMatchObject({ domainPatterns: [] });
  await owner.delete(204, path);
  await member.get(404, path);
  await owner.delete(404, path);
  const actions = await app.sql(`select action, source from audit_entry where entity_id = ? order by sequence`, [
    made.id,
  ]);
  expect(actions.map(({ action }) => action)).toEqual([
    'review_rule.created',
    ...Array.from({ length: 7 }, () => 'review_rule.updated'),
    'review_rule.deleted',
  ]);
  expect(new Set(actions.map(({ source }) => source))).toEqual(new Set(['environment']));
});

test.each([
  [toPool({ branchPattern: 'a*b' }), '#/body/branchPattern'],
  [toPool({ branchPattern: '**' }), '#/body/branchPattern'],
  [toPool({ branchPattern: 'x'.repeat(256) }), '#/body/branchPattern'],
  [toPool({ branchPattern: '' }), '#/body/branchPattern'],
  [toPool({ branchPattern: 'a\u0000' }), '#/body/branchPattern'],
  [toPool({ domainPatterns: ['ok', '*a*'] }), '#/body/domainPatterns/1'],
  [toPool({ domainPatterns: Array.from({ length: 51 }, (_, n) => `d${n}`) }), '#/body/domainPatterns'],
  [
    toPool({ domainPattern: 'one-more', domainPatterns: Array.from({ length: 50 }, (_, n) => `d${n}`) }),
    '#/body/domainPatterns',
  ],
  [toPool({ priority: 1_001 }), '#/body/priority'],
  [toPool({ priority: -1_001 }), '#/body/priority'],
  [toPool({ priority: 0.5 }), '#/body/priority'],
  [toPool({ environmentName: 'uat' }), '#/body/environmentName'],
  [{ targetType: 'pool' }, '#/body/poolTag'],
  [{ targetType: 'pool', poolTag: 'unknown' }, '#/body/poolTag'],
  [{ targetType: 'environment' }, '#/body/environmentName'],
  [{ targetType: 'environment', environmentName: 'unknown' }, '#/body/environmentName'],
  [{ targetType: 'environment', environmentName: 'uat', poolTag: 'review' }, '#/body/poolTag'],
  [{ targetType: 'nothing' }, '#/body/targetType'],
  [toPool({ repositoryIdentifier: 'acme/unknown' }), '#/body/repositoryIdentifier'],
])('%j is refused at %s', async (body, pointer) => {
  const { rule } = await stage();
  const { code, errors } = await rule(body, 400);
  expect([code, errors[0].pointer]).toEqual(['invalid_request', pointer]);
});

test('the same patterns and target are a rule once, in whatever order', async () => {
  const { rule, newPool } = await stage();
  const first = await rule(toPool({ branchPattern: 'a', domainPatterns: ['x', 'y'] }));
  await expect(
    rule(toPool({ branchPattern: 'a', domainPatterns: ['y', 'x', 'x'], priority: 5 }), 409),
  ).resolves.toMatchObject({
    code: 'already_exists',
  });
  await newPool('other');
  await rule(toPool({ branchPattern: 'a', domainPatterns: ['x', 'y'], poolTag: 'other' }));
  await rule({ targetType: 'environment', environmentName: 'uat', branchPattern: 'a', domainPatterns: ['x', 'y'] });
  const second = await rule(toPool({ branchPattern: 'a', domainPatterns: ['x'] }));
  const owner = app.as(app.owner);
  await owner.put(409, `${RULES}/${second.id}`, { domainPatterns: ['x', 'y'] });
  await owner.put(200, `${RULES}/${first.id}`, { domainPatterns: ['x', 'y'] });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      owner.send('POST', RULES, {
        body: { repositoryIdentifier: first.repositoryIdentifier, ...toPool({ branchPattern: 'race' }) },
      }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
});

test('the list by its filters', async () => {
  const { repositoryIdentifier, rule, newPool } = await stage();
  await newPool('other');
  const a = await rule(toPool({ branchPattern: 'feature/*', domainPatterns: ['sales', 'service*'] }));
  const b = await rule(toPool({ branchPattern: '*', poolTag: 'other', priority: 3 }));
  const c = await rule({ targetType: 'environment', environmentName: 'uat', branchPattern: 'main', isActive: false });
  const list = async (query: Record<string, string> = {}) => {
    const rules = await app
      .as(app.member)
      .get(200, `${RULES}?${new URLSearchParams({ repositoryIdentifier, ...query })}`);
    return rules.map(({ id }: { id: string }) => ({ [a.id]: 'a', [b.id]: 'b', [c.id]: 'c' })[id]).join('');
  };
  await expect(list()).resolves.toBe('bac');
  await expect(list({ poolTag: 'other' })).resolves.toBe('b');
  await expect(list({ targetType: 'environment' })).resolves.toBe('c');
  await expect(list({ isActive: 'true' })).resolves.toBe('ba');
  await expect(list({ isActive: 'false' })).resolves.toBe('c');
  await expect(list({ branchPattern: 'ea' })).resolves.toBe('a');
  await expect(list({ branchPattern: '*' })).resolves.toBe('ba');
  await expect(list({ branchPattern: '%' })).resolves.toBe('');
  await expect(list({ domainPattern: 'ervice' })).resolves.toBe('a');
  await expect(list({ limit: '1', offset: '1' })).resolves.toBe('a');
  const { status } = await app.as(app.member).send('GET', `${RULES}?repositoryIdentifier=acme%2Funknown`, {});
  expect(status).toBe(400);
});

test('the test of rules names the best one, all that match, and why others do not', async () => {
  const { repositoryIdentifier, rule, testRules } = await stage();
  const any = await rule(toPool({ branchPattern: '*' }));
  const best = await rule({
    targetType: 'environment',
    environmentName: 'uat',
    branchPattern: 'feature/*',
    domainPattern: 'sales',
  });
  const off = await rule(toPool({ branchPattern: 'feature/*', isActive: false }));
  const other = await rule(toPool({ branchPattern: 'main' }));
  const web = await rule(toPool({ branchPattern: 'feature/a', domainPattern: 'web' }));
  const asked = { branch: 'feature/a', domain: 'sales' };
  await expect(testRules(asked)).resolves.toEqual({
    matched: true,
    targetType: 'environment',
    poolTag: null,
    environmentName: 'uat',
    assignment: best,
    matches: [
      { assignment: best, branchScore: 58, domainScore: 100, totalScore: 158 },
      { assignment: any, branchScore: 1, domainScore: 0, totalScore: 1 },
    ],
    matchesTotal: 2,
    explained: [
      { ruleId: off.id, reason: 'inactive' },
      { ruleId: other.id, reason: 'branch' },
      { ruleId: web.id, reason: 'domain' },
    ],
    testParams: { repositoryIdentifier, ...asked },
  });
  await expect(testRules({ branch: 'feature/a' })).resolves.toMatchObject({
    matched: true,
    assignment: { id: any.id },
    testParams: { domain: null },
  });
  await testRules({}, 400);
  await testRules({ branch: 'x', repositoryIdentifier: 'acme/unknown' }, 400);
  await app.as(app.owner).delete(204, `${RULES}/${any.id}`);
  await expect(testRules({ branch: 'x' })).resolves.toMatchObject({
    matched: false,
    assignment: null,
    matches: [],
    poolTag: null,
  });
});

test('a renamed environment keeps its rules, a removed one takes them along; a pool with rules stays', async () => {
  const { repositoryIdentifier, poolId, rule } = await stage();
  const owner = app.as(app.owner);
  const [environment] = await owner.get(200, `/api/environments?repositoryIdentifier=${repositoryIdentifier}`);
  const { id } = await rule({ targetType: 'environment', environmentName: 'uat' });
  await owner.patch(200, `/api/environments/${environment.id}`, { name: 'renamed' });
  await expect(owner.get(200, `${RULES}/${id}`)).resolves.toMatchObject({ environmentName: 'renamed' });
  await owner.delete(204, `/api/environments/${environment.id}`);
  await owner.get(404, `${RULES}/${id}`);
  const ofPool = await rule(toPool());
  await expect(owner.delete(409, `/api/review/pools/${poolId}`)).resolves.toMatchObject({ code: 'invalid_transition' });
  await owner.delete(204, `${RULES}/${ofPool.id}`);
  await owner.delete(204, `/api/review/pools/${poolId}`);
});

test('of very many rules a hundred are shown and listed at a time, with how many there are', async () => {
  const { repositoryIdentifier, rule, testRules } = await stage();
  await Promise.all(
    Array.from({ length: 102 }, (_, n) => rule(toPool({ priority: n, domainPatterns: [`d${n}`, '*'] }))),
  );
  const { matches, matchesTotal, assignment } = await testRules({ branch: 'feature/a', domain: 'sales' });
  expect(matchesTotal).toBe(102);
  expect([matches.length, matches[0].assignment.priority, matches.at(-1).assignment.priority]).toEqual([100, 101, 2]);
  expect(assignment).toEqual(matches[0].assignment);
  const page = await app
    .as(app.member)
    .request(200, 'GET', `${RULES}?${new URLSearchParams({ repositoryIdentifier })}`);
  expect(page.body).toHaveLength(100);
  expect(page.headers.get('link')).toContain('rel="next"');
  await app.as(app.member).get(400, `${RULES}?limit=501`);
});
