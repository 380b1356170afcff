import { workflowPathOf } from '../../domain/kernel/shared/workflow-path-rules.ts';
import { approvalContract } from '../../workflows/delivery/approvals/approval.contract.ts';
import { aiReportContract } from '../../workflows/insight/ai-reports/ai-report.contract.ts';
import { analysisResultsContract } from '../../workflows/insight/code-analysis/analysis-results.contract.ts';
import { mockDriftContract } from '../../workflows/mocks/mock-drift.contract.ts';
import { pullRequestsContract } from '../../workflows/code/pull-requests/pull-requests.contract.ts';
import { browserSessionContract } from '../../workflows/review/browser-sessions/browser-session.contract.ts';
import { reviewAssignmentContract } from '../../workflows/review/review-assignments/review-assignment.contract.ts';
import { reviewPoolContract } from '../../workflows/review/review-pools/review-pool.contract.ts';
import { auditExportContract } from '../../workflows/kernel/audit/audit-export.contract.ts';
import { buildImpactContract } from '../../workflows/ci/builds/build-impact.contract.ts';
import { environmentLockContract } from '../../workflows/delivery/environment-locks/environment-lock.contract.ts';
import { flowChecksContract } from '../../workflows/delivery/flows/flow-checks.contract.ts';
import { flowRunContract } from '../../workflows/delivery/flows/flow-run.contract.ts';
import { scheduledFlowContract } from '../../workflows/delivery/flows/scheduled-flow.contract.ts';
import { gitMirrorContract } from '../../workflows/code/git/git-mirror.contract.ts';
import { orgExplorerContract } from '../../workflows/orgs/org-explorer/org-explorer.contract.ts';
import { releaseDomainContract } from '../../workflows/delivery/release-candidates/release-domain.contract.ts';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { startOptions } from '../../workflows/temporal-start.ts';
import { chatLaneContract } from '../../workflows/people/chat/chat-lane.contract.ts';
import { workItemReportContract } from '../../workflows/work/work-item-requests/work-item-report.contract.ts';
import { gcCheckContract, gcCheckInput } from '../../workflows/orgs/gc-ledger/gc-check.contract.ts';
import { laneNameOf } from '../../domain/events/webhooks/lane-name-rules.ts';
import { webhookLaneContract } from '../../workflows/events/webhooks/webhook-lane.contract.ts';
import { idSegment } from '../../domain/kernel/text/id-segment-rules.ts';
import { boundedId, boundedSummary, ID_BYTES_MAX, prefixOf } from '../../workflows/workflow-id.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { eventually } from '../support/worker.ts';

const client = createTemporalClient({ address: process.env.QS_TEST_TEMPORAL_ADDRESS ?? '', namespace: 'default' });
let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(async () => {
  await client.connection.close();
  await app.close();
});

const tenant = { tenantId: '018f-tenant', tenantSlug: 'acme' };
const repositoryIdentifier = 'acme/shop';
const RUN_ID = '01a21bb8-4a31-71d5-a8d1-956e0ab1c2d3';
const END = '956e0ab1c2d3';
const BRANCH = { ...tenant, repositoryIdentifier, branch: 'release/1' };
const REVIEW = { ...tenant, repositoryIdentifier, subject: 'pr 118' };
const project = { ...tenant, projectId: RUN_ID, repositoryIdentifier };
const lock = { ...tenant, environmentId: RUN_ID, environmentName: 'uat', repositoryIdentifier };
const RELEASE = { runId: RUN_ID, taskType: 'execute-release', releaseName: '2026.03', environmentName: 'prod/1' };
const ANALYSIS = { runId: RUN_ID, taskType: 'analyze' };
const bytes = (text: string) => Buffer.byteLength(text);

test.each([
  [
    approvalContract.workflowId({ ...tenant, approvalId: RUN_ID, taskType: 'build', repositoryIdentifier }),
    `approval/build/acme/shop/${END}`,
  ],
  [
    approvalContract.workflowId({ ...tenant, approvalId: RUN_ID, taskType: 'a/b', repositoryIdentifier: null }),
    `approval/a%2fb/${END}`,
  ],
  [aiReportContract.workflowId({ ...BRANCH, reportId: RUN_ID }), `ai-report/acme/shop/release%2f1/${END}`],
  [analysisResultsContract.workflowId({ ...project, ...BRANCH }), `analysis-results/acme/shop/release%2f1/${END}`],
  [auditExportContract.workflowId({ ...tenant, exportId: RUN_ID }), `audit-export/2026-11-27/${END}`],
  [
    buildImpactContract.workflowId({ ...project, previewKey: 'k1', generation: 2 }),
    `build-impact/acme/shop/${END}/k1/2`,
  ],
  [environmentLockContract.workflowId(lock), `environment-lock/acme/shop/${END}`],
  [environmentLockContract.workflowId({ ...lock, environmentName: 'renamed' }), `environment-lock/acme/shop/${END}`],
  [mockDriftContract.workflowId({ ...tenant, driftId: RUN_ID }), `mock-drift/2026-11-27/${END}`],
  [pullRequestsContract.workflowId(project), `pull-requests/acme/shop/${END}`],
  [
    reviewAssignmentContract.workflowId({ ...REVIEW, assignmentId: RUN_ID, target: 'qa' }),
    `review-assignment/acme/shop/pr 118/${END}`,
  ],
  [reviewPoolContract.workflowId({ ...REVIEW, poolId: RUN_ID, poolTag: 'qa' }), `review-pool/acme/shop/qa/${END}`],
  [browserSessionContract.workflowId({ ...REVIEW, sessionId: RUN_ID }), `browser-session/acme/shop/${END}`],
  [flowChecksContract.workflowId({ ...tenant, runId: 'r1', workflowPath: null }), 'flow-checks/r1'],
  [
    flowChecksContract.workflowId({ ...tenant, runId: RUN_ID, workflowPath: workflowPathOf(RELEASE) }),
    'flow-checks/execute-release/2026.03/prod%2f1/956e0ab1c2d3',
  ],
  [
    orgExplorerContract.workflowId({ ...tenant, orgId: 'o1', username: 'admin@acme.example' }),
    'org/admin@acme.example',
  ],
  [workItemReportContract.workflowId({ ...BRANCH, requestId: RUN_ID }), `work-item-report/acme/shop/${END}`],
  [flowRunContract.workflowId({ ...tenant, runId: 'r1', taskType: 'build' }), 'flow/build/r1'],
  [
    flowRunContract.workflowId({ ...tenant, ...RELEASE, workflowPath: workflowPathOf(RELEASE) }),
    'flow/execute-release/2026.03/prod%2f1/956e0ab1c2d3',
  ],
  [
    flowRunContract.workflowId({
      ...tenant,
      ...RELEASE,
      workflowPath: workflowPathOf({ ...ANALYSIS, repositoryIdentifier }),
    }),
    'flow/analyze/acme/shop/956e0ab1c2d3',
  ],
  [scheduledFlowContract.workflowId({ ...tenant, scheduleId: 's1', name: 'a/b' }), 'flow-schedule/a%2fb/s1'],
  [gitMirrorContract.workflowId(project), `git-mirror/acme/shop/${END}`],
  [releaseDomainContract.workflowId({ ...project, domain: 'core' }), 'release-domain/acme/shop/core'],
  [releaseDomainContract.workflowId({ ...project, domain: 'Größe 1' }), 'release-domain/acme/shop/Größe 1'],
  [chatLaneContract.workflowId({ ...tenant, workspaceId: RUN_ID }), `chat-lane/${END}`],
  [webhookLaneContract.workflowId({ ...tenant, webhookId: 'w1', laneName: null }), 'webhook/w1'],
  [
    webhookLaneContract.workflowId({
      ...tenant,
      webhookId: RUN_ID,
      laneName: laneNameOf({ name: 'board', id: RUN_ID }),
    }),
    'webhook/board-0ab1c2d3',
  ],
  [
    gcCheckContract.workflowId(gcCheckInput(tenant, { id: RUN_ID, repositoryIdentifier, branch: 'release/1' })),
    'gc-check/acme/shop/release%2f1/956e0ab1c2d3',
  ],
])('%s', (id, expected) => {
  expect(id).toBe(`acme/${expected}`);
  expect(boundedId('', id)).toBe(id);
});

test.each([
  ['a/b', 'a%2fb'],
  ['a%2fb', 'a%252fb'],
  ['two\nlines\u0000\u0085', 'two%0alines%00%85'],
  ['half a pair \ud800', 'half a pair \ufffd'],
])('%j as a segment of an id', (text, expected) => {
  expect(idSegment(text)).toBe(expected);
});

test('the ids of two installations in one namespace differ, whatever prefixes and slugs they have', () => {
  const idOf = (prefix: string, tenantSlug: string) =>
    boundedId(prefix, releaseDomainContract.workflowId({ ...project, tenantSlug, domain: 'core' }));
  const ids = [idOf('', 'a-b'), idOf('a-', 'b'), idOf('a', '-b'), idOf('a-b', 'release-domain')];
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map(prefixOf)).toEqual(['', 'a-', 'a', 'a-b']);
  expect(prefixOf('acme/release-domain/acme/shop/a:b')).toBe('');
});

test('ids that are too long are cut within no character, and stay different', () => {
  const idOf = (domain: string) => boundedId('staging-', releaseDomainContract.workflowId({ ...project, domain }));
  const [one, other] = [idOf(`${'ü'.repeat(254)}1`), idOf(`${'ü'.repeat(254)}2`)];
  expect(one).toMatch(/^staging-:acme\/release-domain\/acme\/shop\/ü+~[0-9a-f]{16}$/);
  expect(one).not.toBe(other);
  expect(one).toBe(idOf(`${'ü'.repeat(254)}1`));
  for (const domain of ['x'.repeat(255), 'ü'.repeat(255), '語'.repeat(255), '🚢'.repeat(127), '%'.repeat(255)]) {
    expect(bytes(idOf(domain))).toBeLessThanOrEqual(ID_BYTES_MAX);
    expect(idOf(domain)).not.toContain('\ufffd');
  }
  const whole = 'x'.repeat(ID_BYTES_MAX);
  expect(boundedId('', whole)).toBe(whole);
  expect(boundedId('', `${whole}y`)).toMatch(/^x{213}~[0-9a-f]{16}$/);
  expect(boundedSummary('two\nlines')).toBe('two lines');
});

test('Temporal takes the longest names, and shows what a workflow is about', async () => {
  const [organization, name] = ['語'.repeat(120), '"'.repeat(134)];
  const run = {
    ...app.tenantKey,
    runId: '018f0000-0000-7000-8000-000000000001',
    taskType: 'execute-release',
    repositoryIdentifier: `${organization}/${name}`,
    about: { domain: 'd'.repeat(255), releaseName: '"'.repeat(255), environmentName: '語'.repeat(255), branch: 'main' },
  };
  await app.launch.start(flowRunContract, run);
  const domain = {
    ...app.tenantKey,
    projectId: 'p1',
    repositoryIdentifier: run.repositoryIdentifier,
    domain: '%'.repeat(255),
  };
  await app.launch.start(releaseDomainContract, domain);
  const handle = client.workflow.getHandle(app.launch.idOf(flowRunContract, run));
  const { staticDetails } = await handle.describe();
  expect(await staticDetails()).toContain('\n- Branch: main');
  expect(await app.launch.stateOf(releaseDomainContract, domain)).toBe('running');
  await Promise.all(
    [handle, client.workflow.getHandle(app.launch.idOf(releaseDomainContract, domain))].map((each) => each.terminate()),
  );
});

test('operators list what is running for a tenant by the search attribute and by the prefix of ids', async () => {
  const contract = { ...auditExportContract, taskQueue: 'nobody' };
  const input = { ...app.tenantKey, exportId: '018f0000-0000-7000-8000-000000000002' };
  await app.launch.start(contract, input);
  const id = app.launch.idOf(contract, input);
  expect(id).toBe(`${app.queuePrefix}:acme/audit-export/2024-04-21/000000000002`);
  const ids = async (query: string) => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
    return found;
  };
  const listed = (query: string) =>
    eventually(
      () => ids(query),
      (found) => found.includes(id),
    );
  await listed(`WorkflowId STARTS_WITH "${app.queuePrefix}:acme/" AND ExecutionStatus = "Running"`);
  await listed('Tenant = "acme" AND ExecutionStatus = "Running"');
  await client.workflow.getHandle(id).terminate();
});

test('the slug of a tenant never changes', async () => {
  await expect(app.sql(`update tenant set slug = 'renamed' where id = ?`, [app.tenant.id])).rejects.toThrow(
    /the slug of a tenant never changes/,
  );
});

test('a workflow is started with what its contract shows', () => {
  const { staticSummary, staticDetails, taskQueue } = startOptions(
    flowRunContract,
    {
      ...tenant,
      runId: 'r1',
      taskType: 'execute-release',
      repositoryIdentifier,
      about: { domain: 'core', releaseName: '2026.03', environmentName: 'uat' },
    },
    'staging-',
  );
  expect(taskQueue).toBe('staging-flows-v1');
  expect(staticSummary).toBe('execute-release of acme/shop 2026.03 to uat');
  expect(staticDetails).toBe(
    '- Tenant: acme\n- Repository: acme/shop\n- Domain: core\n- Release: 2026.03\n- Environment: uat',
  );
});
