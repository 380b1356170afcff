import {
  type Demands,
  promotable,
  type PromotableFacts,
  waitingFor,
  waitingForOthers,
} from '../../../../domain/delivery/promotion/promotable-rules.ts';

const candidate = {
  domain: 'core',
  releaseName: 'r1',
  status: 'pending',
  branch: 'main',
  commitSha: 'c1',
  contentDigest: 'now',
};
const facts: PromotableFacts = {
  named: { domain: 'core', releaseName: 'r1' },
  candidate,
  defaultBranch: 'main',
  environment: { name: 'prod', branch: 'main' },
  branchEvidence: 'on_branch',
  approvedDigest: 'now',
};

test.each<[string, Partial<PromotableFacts>]>([
  ['as it was approved', {}],
  ['finalized before', { candidate: { ...candidate, status: 'finalized' } }],
  ['without an approval', { approvedDigest: null, candidate: { ...candidate, contentDigest: 'later' } }],
  ['without a branch: of the default branch', { candidate: { ...candidate, branch: null } }],
  ['with a branch that nobody can confirm', { branchEvidence: 'no_copy' }],
  ['of a branch of the pattern', { environment: { name: 'prod', branch: '**' } }],
])('goes: %s', (_, given) => expect(promotable({ ...facts, ...given })).toBeUndefined());

test.each<[string, Partial<PromotableFacts>, string, string]>([
  ['does not exist', { candidate: undefined }, 'not_found', 'releaseName'],
  ['was aborted', { candidate: { ...candidate, status: 'aborted' } }, 'invalid_transition', 'releaseName'],
  ['is of another branch', { candidate: { ...candidate, branch: 'dev' } }, 'invalid_transition', 'environmentName'],
  ['is not on its branch', { branchEvidence: 'not_on_branch' }, 'invalid_transition', 'environmentName'],
  ['is of a commit that is not fetched yet', { branchEvidence: 'unverified' }, 'invalid_transition', 'environmentName'],
  [
    'is of the default branch, which is another',
    { candidate: { ...candidate, branch: null }, defaultBranch: 'trunk' },
    'invalid_transition',
    'environmentName',
  ],
  ['has other content', { approvedDigest: 'then' }, 'invalid_transition', 'releaseName'],
])('does not go: %s', (_, given, code, member) =>
  expect(promotable({ ...facts, ...given })).toMatchObject({ code, member, detail: expect.stringContaining('r1') }),
);

const NOW = Date.parse('2026-11-22T12:00:00Z');
const at = (text: string): number => Date.parse(text);
const demands = (policy: Demands['policy'], since: Record<string, string | null> = {}): Demands => ({
  environmentName: 'prod',
  policy,
  deployed: new Map(Object.entries(since).map(([name, text]) => [name, text === null ? null : at(text)])),
});
const freeze = { from: '2026-11-20T00:00:00Z', to: '2026-11-25T00:00:00Z', reason: 'sale' };
const monday = { days: ['mon' as const], from: '09:00', to: '10:00', timezone: 'UTC' };

test.each<[string, Demands[], string | null | undefined, RegExp]>([
  ['no policy', [demands(null)], undefined, /^/],
  ['deployed before, no soak', [demands({ after: ['uat'] }, { uat: '2026-11-22T12:00:00Z' })], undefined, /^/],
  [
    'deployed before by the clock of a host that is ahead, no soak',
    [demands({ after: ['uat'] }, { uat: '2026-11-22T12:05:00Z' })],
    undefined,
    /^/,
  ],
  [
    'not deployed before',
    [demands({ after: ['uat', 'sit'] }, { sit: '2026-11-01T00:00:00Z' })],
    null,
    /not deployed to uat$/,
  ],
  [
    'not long enough in the later of two',
    [demands({ after: ['uat', 'sit'], soakMinutes: 60 }, { uat: '2026-11-22T11:30:00Z', sit: '2026-11-01T00:00:00Z' })],
    '2026-11-22T12:30:00Z',
    /to uat, sit for 60 min, which is at 2026-11-22T12:30:00Z$/,
  ],
  [
    'soaked to the minute',
    [demands({ after: ['uat'], soakMinutes: 30 }, { uat: '2026-11-22T11:30:00Z' })],
    undefined,
    /^/,
  ],
  [
    'replaced where it soaked',
    [demands({ after: ['uat', 'sit'], soakMinutes: 30 }, { uat: null, sit: '2026-11-22T10:00:00Z' })],
    null,
    /for 30 min without interruption; it was replaced in uat$/,
  ],
  ['replaced, no soak', [demands({ after: ['uat'] }, { uat: null })], undefined, /^/],
  [
    'frozen',
    [demands({ freezes: [freeze] })],
    '2026-11-25T00:00:00Z',
    /^prod is frozen until 2026-11-25T00:00:00Z: sale$/,
  ],
  ['outside its windows', [demands({ windows: [monday] })], '2026-11-23T09:00:00Z', /^Outside the windows of prod$/],
  ['frozen over its window', [demands({ windows: [monday], freezes: [freeze] })], '2026-11-30T09:00:00Z', /frozen/],
  [
    'soaked within a freeze: until that ends',
    [demands({ after: ['uat'], soakMinutes: 60, freezes: [freeze] }, { uat: '2026-11-22T11:30:00Z' })],
    '2026-11-25T00:00:00Z',
    /60 min/,
  ],
  ['one of two frozen', [demands(null), demands({ freezes: [freeze] })], '2026-11-25T00:00:00Z', /frozen/],
  [
    'nowhere deployed goes before what is known',
    [demands({ freezes: [freeze] }), demands({ after: ['uat'] })],
    null,
    /uat/,
  ],
])('waits: %s', (_, given, expected, reason) => {
  const waiting = waitingFor(given, NOW);
  if (expected === undefined) expect(waiting).toBeUndefined();
  else {
    expect(waiting?.nextAt).toBe(expected === null ? null : at(expected));
    expect(waiting?.reason).toMatch(reason);
  }
});

test('what must be deployed before is known apart from windows and freezes', () => {
  expect(waitingForOthers([demands({ freezes: [freeze], windows: [monday] })], NOW)).toBeUndefined();
  const soaking = demands({ after: ['uat'], soakMinutes: 60, freezes: [freeze] }, { uat: '2026-11-22T11:30:00Z' });
  expect(waitingForOthers([soaking], NOW)?.nextAt).toBe(at('2026-11-22T12:30:00Z'));
  const partly = demands({ after: ['int', 'uat', 'sit'] }, { int: '2026-11-22T11:30:00Z' });
  expect(waitingForOthers([soaking, partly], NOW)?.missing).toEqual(['uat', 'sit']);
});
