import type { ApprovalPolicy } from '../../../../domain/projects/policies/approval-policy-rules.ts';
import { FLOW_TYPES, type FlowType } from '../../../../domain/delivery/flows/flow-types.ts';
import {
  gatedAs,
  gatesOf,
  type KnownEnvironment,
  type RunGates,
} from '../../../../domain/delivery/flows/gates/gate-rules.ts';
import { targetNames, type TargetNames } from '../../../../domain/delivery/flows/target-name-rules.ts';

const SHOP = '0198c5a0-7b3e-7000-8000-00000000000a';
const OTHER = '0198c5a0-7b3e-7000-8000-00000000000b';
const idOf = (n: number) => `0198c5a0-7b3e-7000-8000-00000000000${n}`;
const LEADS: ApprovalPolicy = { approvers: ['leads'] };
const SKIP: ApprovalPolicy = { skipApproval: true };

const environment = (n: number, name: string, given: Partial<KnownEnvironment> = {}): KnownEnvironment => ({
  id: idOf(n),
  projectId: SHOP,
  name,
  category: 'release',
  orgUsername: null,
  branch: '**',
  isActive: true,
  approvalPolicy: null,
  projectPolicy: null,
  ...given,
});
const PROD = environment(1, 'prod', { orgUsername: 'Deploy@Acme.example', approvalPolicy: LEADS, branch: 'main' });
const UAT = environment(2, 'uat', { orgUsername: 'deploy@acme.example.uat', branch: 'release/*' });
const DEV = environment(3, 'dev', {
  orgUsername: 'deploy@acme.example.dev',
  approvalPolicy: SKIP,
  branch: 'feature/**',
  category: 'dev',
});
const PLAIN = environment(4, 'plain', { approvalPolicy: SKIP, category: 'test' });
const THEIRS = environment(5, 'prod', { projectId: OTHER, orgUsername: 'deploy@other.example', approvalPolicy: LEADS });
const ENVIRONMENTS = [PROD, UAT, DEV, PLAIN, THEIRS];

const namesIn = (...given: Parameters<typeof targetNames>): TargetNames => {
  const reading = targetNames(...given);
  for (let step = reading.next(); ; step = reading.next()) if (step.done) return step.value;
};

const decide = (type: FlowType, payload: Record<string, unknown>, project: ApprovalPolicy | null = null): RunGates => {
  const named = ENVIRONMENTS.find(
    ({ id, name, projectId }) =>
      projectId === SHOP && (payload.environmentName === name || payload.environmentId === id),
  );
  const { environmentName: _, environmentId: __, ...rest } = payload;
  return gatesOf({
    type,
    environmentId: named?.id ?? null,
    names: namesIn(named ? rest : payload, { isOnSandbox: type.target === 'sandbox' }),
    project: payload.repositoryIdentifier === null ? null : { id: SHOP, approvalPolicy: project },
    environments: ENVIRONMENTS,
  });
};

const OWNERS = 'owners';
const labelOf = (policy: ApprovalPolicy | null) => {
  if (policy === null) return OWNERS;
  return policy.skipApproval ? 'skip' : policy.approvers?.join(',');
};

/** Ways to name a target: the environments that are found, and whether something named is none of them. */
const WAYS: [way: string, payload: Record<string, unknown>, found: KnownEnvironment[], isUnknown?: boolean][] = [
  ['nothing', {}, []],
  ['the name', { environmentName: 'prod' }, [PROD]],
  ['the id', { environmentId: PROD.id }, [PROD]],
  ['an environment that is gone', { environmentName: 'gone' }, [], true],
  ['the org', { orgUsername: 'deploy@acme.example' }, [PROD]],
  ['the org without a project', { repositoryIdentifier: null, orgUsername: 'deploy@acme.example' }, [PROD]],
  ['the org in another case', { orgUsername: 'DEPLOY@ACME.EXAMPLE' }, [PROD]],
  ['the org among spaces', { orgUsername: ' deploy @acme.example\u00a0' }, [PROD]],
  ['the org with characters nobody sees', { orgUsername: 'deploy\u200b@acme.example\u2060' }, [PROD]],
  ['the org in wide letters', { orgUsername: 'ｄｅｐｌｏｙ＠ａｃｍｅ．ｅｘａｍｐｌｅ' }, [PROD]],
  ['an org of another project', { orgUsername: 'deploy@other.example' }, [THEIRS]],
  ['an org that nobody knows', { orgUsername: 'nobody@acme.example' }, [], true],
  ['an alias of an org', { targetOrg: 'production' }, [], true],
  ['an alias member', { 'target-org': 'deploy@acme.example' }, [PROD]],
  ['a member that nobody thought of', { where: 'deploy@acme.example' }, [PROD]],
  ['an argument', { args: '--target-org=Deploy@acme.example --wait 5' }, [PROD]],
  ['an encoded argument', { args: '?org=deploy%40acme.example' }, [PROD]],
  ['a member whose name is the org', { 'deploy@acme.example': true }, [PROD]],
  ['a list of orgs', { orgs: ['deploy@acme.example', 'deploy@acme.example.uat'] }, [PROD, UAT]],
  ['an org in an object', { target: { org: { username: 'deploy@acme.example' } } }, [PROD]],
  ['a lax name beside a strict org', { environmentName: 'dev', orgUsername: 'deploy@acme.example' }, [DEV, PROD]],
  ['a lax name beside an unknown org', { environmentName: 'plain', orgUsername: 'x@y.example' }, [PLAIN], true],
  ['a name beside its org', { environmentName: 'prod', orgUsername: 'DEPLOY@acme.example' }, [PROD]],
  ['two names', { environmentName: 'dev', environment: 'prod' }, [DEV, PROD]],
  ['a list of names', { environments: ['dev', 'PROD '] }, [DEV, PROD]],
  ['a list in a text', { environmentNames: 'dev, prod' }, [DEV, PROD]],
  ['an id anywhere', { environmentName: 'dev', ref: PROD.id.toUpperCase() }, [DEV, PROD]],
  ['the inputs of a pipeline', { pipeline: { id: 'x', inputs: { org: 'deploy@acme.example' } } }, [PROD]],
  [
    'the inputs of a pipeline beside a lax name',
    { environmentName: 'dev', pipeline: { id: 'x', inputs: { ENVIRONMENT: 'Prod' } } },
    [DEV, PROD],
  ],
  [
    'a document in the inputs of a pipeline',
    { environmentName: 'dev', pipeline: { id: 'x', inputs: { json: '{"environment":{"name":"prod"}}' } } },
    [DEV, PROD],
  ],
  ['pipelines', { environmentName: 'dev', pipelines: [{ inputs: { targetOrg: 'deploy@acme.example' } }] }, [DEV, PROD]],
  ['a payload in the payload', { environmentName: 'dev', payload: { environmentName: 'prod' } }, [DEV, PROD]],
  ['a sandbox', { sandboxName: 'uat' }, [UAT]],
  ['an unknown sandbox', { sandboxName: 'spare' }, [], true],
  ['a sandbox that bears a name', { sandboxName: 'plain' }, [PLAIN]],
  ['a branch', { branch: 'release/7' }, [UAT]],
  ['a branch with its ref', { branch: 'refs/heads/main ' }, [PROD]],
  ['a branch that goes nowhere', { branch: 'topic' }, []],
  ['a lax branch beside a strict org', { branch: 'feature/x', orgUsername: 'deploy@acme.example' }, [PROD]],
  ['a lax branch beside an unknown org', { branch: 'feature/x', orgUsername: 'x@y.example' }, [], true],
  ['a strict name as a key', { environmentName: 'dev', environments: { prod: true } }, [DEV, PROD]],
  ['a strict name where a target is expected', { environmentName: 'dev', 'deploy-to': 'PROD' }, [DEV, PROD]],
  ['a target in an object', { environmentName: 'dev', target: { name: 'prod', stages: ['uat'] } }, [DEV, PROD, UAT]],
  ['a lax branch beside a target', { branch: 'release/7', environmentName: 'dev', stage: 'prod' }, [DEV, PROD]],
  ['a target that is something else', { environmentName: 'dev', target: 'chrome', environments: 3 }, [DEV]],
  ['the dev hub', { environmentName: 'uat', devHubUsername: 'deploy@acme.example' }, [UAT]],
  ['approvers', { environmentName: 'uat', approvalPolicy: { approvers: ['deploy@acme.example'] } }, [UAT]],
];

const CASES = FLOW_TYPES.flatMap((type) =>
  WAYS.map(([way, payload, found, isUnknown = false]) => ({ type: type as FlowType, way, payload, found, isUnknown })),
);

test.each(CASES)('$type.id with $way', ({ type, payload, found, isUnknown }) => {
  const { gates, target } = type;
  const decided = decide(type, payload);
  if (!gates.approval && !gates.lock) {
    expect(decided).toMatchObject({ policies: [], lockIds: [], missing: [] });
    return;
  }
  if (target === 'environment' && found.length === 0) {
    expect(decided.missing).toEqual([{ member: 'environmentName', detail: expect.any(String) }]);
    return;
  }
  const ids = found.map(({ id }) => id);
  expect(decided.missing).toEqual([]);
  expect(decided.environmentIds.toSorted()).toEqual(ids.toSorted());
  expect(decided.lockIds).toEqual(gates.lock ? ids.toSorted() : []);
  const policies = [
    ...found.map(({ approvalPolicy }) => labelOf(approvalPolicy ?? SKIP)),
    ...(isUnknown || found.length === 0 ? [OWNERS] : []),
  ];
  expect(decided.policies.map(({ policy }) => labelOf(policy)).toSorted()).toEqual(
    gates.approval ? policies.toSorted() : [],
  );
});

const install = FLOW_TYPES.find(({ id }) => id === 'install-packages') as FlowType;
const labels = ({ policies }: RunGates) => policies.map(({ policy }) => labelOf(policy));

test("the project's policy is that of environments without one, and of unknown targets", () => {
  const policy = { approvers: ['release-managers'] };
  expect(labels(decide(install, { orgUsername: 'nobody@acme.example' }, policy))).toEqual(['release-managers']);
  expect(labels(decide(install, {}, { skipApproval: true }))).toEqual(['skip']);
  const uat = { ...UAT, projectPolicy: policy };
  const { policies } = gatesOf({
    type: install,
    environmentId: uat.id,
    names: namesIn({}, { isOnSandbox: false }),
    project: { id: SHOP, approvalPolicy: policy },
    environments: [uat],
  });
  expect(policies).toEqual([{ policy, isForRelease: true }]);
});

test.each<[string, string | undefined, Record<string, unknown>, KnownEnvironment[], string[]]>([
  ['its children', 'children', {}, [], []],
  ['a pipeline', 'cicd', {}, [PROD, UAT], ['leads', 'skip']],
  ['a command', 'command', {}, [PROD, UAT], ['leads', 'skip']],
  ['a pipeline to some', 'cicd', { environmentNames: ['uat'] }, [UAT], ['skip']],
  ['a pipeline to one of another category', 'cicd', { environmentNames: ['plain'] }, [PLAIN], ['skip']],
  ['a pipeline to one that is gone', 'cicd', { environmentNames: ['uat', 'gone'] }, [UAT], [OWNERS, 'skip']],
])('a release that is executed by %s', (_, executor, payload, found, policies) => {
  const release = FLOW_TYPES.find(({ id }) => id === 'request-release') as FlowType;
  const decided = decide({ ...release, ...gatedAs(release, executor) }, payload);
  expect(decided.lockIds).toEqual(found.map(({ id }) => id));
  expect(labels(decided).toSorted()).toEqual(policies.toSorted());
});

test('the production org without a sandbox is what a sandbox type is about', () => {
  const refresh = FLOW_TYPES.find(({ id }) => id === 'request-sandbox-refresh') as FlowType;
  expect(decide(refresh, { productionUsername: 'deploy@acme.example' }).lockIds).toEqual([PROD.id]);
  const sandbox = { sandboxName: 'DEV ', productionUsername: 'deploy@acme.example' };
  expect(decide(refresh, sandbox).lockIds).toEqual([DEV.id]);
  // Types that know of no sandboxes may mean either.
  expect(decide(install, sandbox).lockIds).toEqual([PROD.id, DEV.id]);
});

test('a sandbox of another production org is unknown here, whatever its name', () => {
  const refresh = FLOW_TYPES.find(({ id }) => id === 'request-sandbox-refresh') as FlowType;
  const dev = (productionUsername: string) => labels(decide(refresh, { sandboxName: 'dev', productionUsername }));
  expect(dev('deploy@acme.example')).toEqual(['skip']);
  expect(dev('Admin@Acme.example')).toEqual(['skip']);
  expect(dev('admin@other.example')).toEqual(['skip', OWNERS]);
  expect(dev('other-production')).toEqual(['skip', OWNERS]);
  expect(dev('x@cme.example')).toEqual(['skip', OWNERS]);
});

test.each(FLOW_TYPES.map((each) => [each.id, each as FlowType] as const))(
  'a run of %s is refused where it is about environments that its requester does not reach',
  (_, type) => {
    const isBeyondLimit = (limitedTo: string[] | undefined, payload: Record<string, unknown>, projectId = SHOP) =>
      gatesOf({
        type,
        environmentId: null,
        names: namesIn(payload, { isOnSandbox: false }),
        project: { id: projectId, approvalPolicy: null },
        environments: ENVIRONMENTS,
        limitedTo,
      }).isBeyondLimit;
    for (const payload of [
      { orgUsername: 'deploy@other.example' },
      { environmentName: 'prod', note: 'deploy@other.example' },
      { pipeline: { inputs: { id: THEIRS.id } } },
    ]) {
      expect(isBeyondLimit([SHOP], payload)).toBe(true);
      expect(isBeyondLimit([SHOP, OTHER], payload)).toBe(false);
      expect(isBeyondLimit(undefined, payload)).toBe(false);
    }
    expect(isBeyondLimit([SHOP], { environmentName: 'prod', orgUsername: 'nobody@acme.example' })).toBe(false);
    expect(isBeyondLimit([SHOP], {}, OTHER)).toBe(true);
    expect(isBeyondLimit([SHOP], { postCopy: [{ orgUsername: 'deploy@other.example' }] })).toBe(false);
  },
);

test('a payload as long as one may be is read in time, however it is nested', () => {
  const started = process.threadCpuUsage();
  const nested = `${'['.repeat(100)}"deploy@acme.example"${']'.repeat(100)}`;
  const words = Array.from({ length: 49_000 }, (_, n) => `a${n}@b.example`);
  expect(decide(install, { environmentName: 'dev', nested, words }).environmentIds).toEqual([DEV.id, PROD.id]);
  expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(5_000);
});
