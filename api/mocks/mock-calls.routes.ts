import { isoOf } from '../../domain/kernel/text/date-time-rules.ts';
import { listCalls } from '../../domain/mocks/verification/calls.queries.ts';
import type { latestDrift } from '../../domain/mocks/drift/drifts.queries.ts';
import { requestDrift } from '../../domain/mocks/drift/drifts.mutations.ts';
import { scenarioByName } from '../../domain/mocks/mocks.queries.ts';
import { scenarioReport } from '../../domain/mocks/scenarios/scenario-report.ts';
import { verifyCalls } from '../../domain/mocks/verification/verify-calls.ts';
import { tenantOf } from '../../domain/kernel/shared/actor.ts';
import { mockDriftContract } from '../../workflows/mocks/mock-drift.contract.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { pageReply } from '../http/replies.ts';
import { CallList, CallsQuery, MockDrift, MockReport, VerifyIn, VerifyOut } from './mock-calls.schemas.ts';
import { byName } from './mocks.schemas.ts';

const GROUP = 'Mock scenarios';
const ROOT = '/api/mocks/workspaces/{workspace}/scenarios/{name}';
const FENCE = { roles: ANY_ROLE, projectScope: 'refused' } as const;

type Drift = NonNullable<Awaited<ReturnType<typeof latestDrift>>>;
const driftView = ({ createdAt, endedAt, ...drift }: Drift) => ({
  ...drift,
  createdAt: isoOf(createdAt),
  endedAt: endedAt === null ? null : isoOf(endedAt),
});

/** What clients asked of scenarios, and whether that is what they should. */
export const mockCallsRoutes = [
  defineRoute({
    operationId: 'listMockCalls',
    method: 'get',
    path: `${ROOT}/calls`,
    group: GROUP,
    summary: 'List the calls of a mock scenario',
    description: 'Newest first; the newest 10,000 are kept. Credentials of the client under test are left out.',
    ...FENCE,
    params: byName,
    query: CallsQuery,
    status: 200,
    response: CallList,
    async handle({ params: { workspace, name }, query: { limit, offset, ...filter } }, { reads, requestUrl }) {
      const { id } = await scenarioByName(reads, workspace, name);
      const { items, total } = await listCalls(reads, id, { limit, offset, ...filter });
      const page = { limit, offset, total };
      return pageReply(requestUrl, page, {
        items: items.map(({ calledAt, ...call }) => ({ ...call, calledAt: isoOf(calledAt) })),
        ...page,
      });
    },
  }),
  defineRoute({
    operationId: 'verifyMockCalls',
    method: 'post',
    path: `${ROOT}/verify`,
    group: GROUP,
    summary: 'Verify the calls of a mock scenario',
    description:
      'Compares the calls since the last rewind with what is expected of them, and waits up to `waitMs` until they are that. A failure names the calls that matched nearly.',
    ...FENCE,
    params: byName,
    body: VerifyIn,
    status: 200,
    response: VerifyOut,
    isRepeatable: true,
    audit: { none: 'reads only' },
    handle: ({ params: { workspace, name }, body }, { reads, gone }) => verifyCalls(reads, workspace, name, body, gone),
  }),
  defineRoute({
    operationId: 'getMockReport',
    method: 'get',
    path: `${ROOT}/report`,
    group: GROUP,
    summary: 'Get what became of a rehearsal',
    description:
      'Since the last rewind: calls by outcome, faults, steps that no call has used, requests without a step, runs, and the latest comparison with the upstream.',
    ...FENCE,
    params: byName,
    status: 200,
    response: MockReport,
    async handle({ params: { workspace, name } }, { reads }) {
      const { drift, unmatched, runs, ...report } = await scenarioReport(reads, workspace, name);
      return {
        ...report,
        unmatched: unmatched.map(({ lastAt, ...call }) => ({ ...call, lastAt: isoOf(lastAt) })),
        runs: runs.map(({ usedAt, ...run }) => ({ ...run, usedAt: isoOf(usedAt) })),
        drift: drift && driftView(drift),
      };
    },
  }),
  defineRoute({
    operationId: 'checkMockDrift',
    method: 'post',
    path: `${ROOT}/drift`,
    group: GROUP,
    summary: 'Compare a mock scenario with its upstream',
    description:
      'A workflow asks the upstream for the GET steps, without credentials, and notes where status, content type or the shape of JSON differ; `GET …/report` shows what it found. A comparison that is under way is joined.',
    ...FENCE,
    params: byName,
    status: 202,
    response: MockDrift,
    audit: 'mock_scenario.drift_requested',
    async handle({ params: { workspace, name } }, { tx, actor, adapters }) {
      const drift = await tx((work) => requestDrift(work, workspace, name));
      adapters.launch.startInBackground(mockDriftContract, { ...tenantOf(actor), driftId: drift.id });
      return driftView(drift);
    },
  }),
];
