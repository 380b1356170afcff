import { Readable } from 'node:stream';
import { mockBaseUrl } from '../../domain/mocks/mock-keys.ts';
import { armScenario, stopScenario } from '../../domain/mocks/scenarios/arming.mutations.ts';
import { createScenario, deleteScenario, rewindScenario } from '../../domain/mocks/mocks.mutations.ts';
import { putStep } from '../../domain/mocks/scenarios/steps.mutations.ts';
import { listScenarios, scenarioByName, type ScenarioRow, stepsOf } from '../../domain/mocks/mocks.queries.ts';
import { isAnswering } from '../../domain/mocks/scenarios/scenario-rules.ts';
import { givenStep } from '../../domain/mocks/scenarios/stored-steps.ts';
import type { Reads } from '../../domain/kernel/data/fenced-reads.ts';
import { isoOf } from '../../domain/kernel/text/date-time-rules.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';
import { pageReply, RawReply } from '../http/replies.ts';
import type { Scope } from '../http/scope.ts';
import {
  ArmIn,
  ArmQuery,
  byName,
  bySeq,
  inWorkspace,
  MockScenario,
  MockScenarioList,
  MockScenarioWithSteps,
  MockStep,
  ScenarioIn,
  ScenariosQuery,
  StepPut,
} from './mocks.schemas.ts';

const GROUP = 'Mock scenarios';
const ROOT = '/api/mocks/workspaces/{workspace}/scenarios';
const FENCE = { roles: ANY_ROLE, projectScope: 'refused' } as const;

/** A scenario as clients see it: one that is armed past its time has stopped, though no sweep has written that yet. */
export function scenarioView(
  { key, workspaceId, matched, unmatchedCalls, round: _, hits: _h, ...row }: ScenarioRow,
  { adapters: { encryption, mocks }, now }: Pick<Scope, 'adapters' | 'now'>,
) {
  const armedUntil = row.armedUntil === null ? null : isoOf(row.armedUntil);
  const isOver =
    row.status === 'armed' && !isAnswering('armed', armedUntil === null ? null : new Date(armedUntil), now());
  return {
    ...row,
    status: isOver ? ('stopped' as const) : row.status,
    armedUntil: isOver ? null : armedUntil,
    baseUrl: mockBaseUrl({ encryption, mocksUrl: mocks.url }, { workspaceId, key }),
    calls: { matched, unmatched: unmatchedCalls },
    createdAt: isoOf(row.createdAt),
    updatedAt: isoOf(row.updatedAt),
  };
}

/** A scenario with its steps, which may be many and long, as they are read. */
async function* whole(reads: Reads, row: ScenarioRow, shown: object) {
  yield `${JSON.stringify(shown).slice(0, -1)},"steps":[`;
  let separator = '';
  for await (const step of stepsOf(reads, row.id)) {
    yield separator + JSON.stringify({ ...givenStep(step), hits: row.hits[step.seq] ?? 0 });
    separator = ',';
  }
  yield ']}';
}

export const mocksRoutes = [
  defineRoute({
    operationId: 'createMockScenario',
    method: 'post',
    path: ROOT,
    group: GROUP,
    summary: 'Add a mock scenario, which begins to record unless it has steps',
    description:
      'The workspace is made with its first scenario. One that records or is armed elsewhere in the workspace gets 409 `locked` for another that would record. At most 200 scenarios in a workspace, 2,000 steps in a scenario, 5 MB in a body of a response.',
    ...FENCE,
    params: inWorkspace,
    body: ScenarioIn,
    status: 201,
    response: MockScenarioWithSteps,
    errors: ['already_exists', 'locked'],
    audit: ['mock_scenario.created', 'mock_scenario.disarmed'],
    async handle({ params: { workspace }, body }, scope) {
      const { encryption, mocks } = scope.adapters;
      const parts = { encryption, outbound: mocks.upstreams };
      return scope.tx(async (work) => {
        const row = await createScenario(work, parts, workspace, body);
        const steps = [];
        for await (const step of stepsOf(work, row.id)) steps.push({ ...givenStep(step), hits: 0 });
        return { ...scenarioView(row, scope), steps };
      });
    },
  }),
  defineRoute({
    operationId: 'listMockScenarios',
    method: 'get',
    path: ROOT,
    group: GROUP,
    summary: 'List the mock scenarios of a workspace by their names, without steps',
    description: 'The header `Link` leads to further pages.',
    ...FENCE,
    params: inWorkspace,
    query: ScenariosQuery,
    status: 200,
    response: MockScenarioList,
    async handle({ params: { workspace }, query: { limit, offset } }, scope) {
      const { items, total } = await listScenarios(scope.reads, workspace, { limit, offset });
      const shown = items.map((row) => scenarioView(row, scope));
      return pageReply(scope.requestUrl, { limit, offset, total }, { items: shown, total, limit, offset });
    },
  }),
  defineRoute({
    operationId: 'getMockScenario',
    method: 'get',
    path: `${ROOT}/{name}`,
    group: GROUP,
    summary: 'Get a mock scenario with its steps',
    description: 'Streamed. If the stream fails, the JSON is incomplete.',
    ...FENCE,
    params: byName,
    status: 200,
    response: MockScenarioWithSteps,
    async handle({ params: { workspace, name } }, scope) {
      const row = await scenarioByName(scope.reads, workspace, name);
      const text = whole(scope.reads.with({ pace: 'varies', isContinued: true }), row, scenarioView(row, scope));
      return new RawReply('application/json', Readable.from(text, { objectMode: false }));
    },
  }),
  defineRoute({
    operationId: 'deleteMockScenario',
    method: 'delete',
    path: `${ROOT}/{name}`,
    group: GROUP,
    summary: 'Delete a mock scenario with its calls; an armed one is disarmed',
    ...FENCE,
    params: byName,
    status: 204,
    response: NoContent,
    audit: ['mock_scenario.deleted', 'mock_scenario.disarmed'],
    handle: ({ params: { workspace, name } }, { tx }) => tx((work) => deleteScenario(work, workspace, name)),
  }),
  defineRoute({
    operationId: 'stopMockScenario',
    method: 'post',
    path: `${ROOT}/{name}/stop`,
    group: GROUP,
    summary: 'End the recording of a mock scenario, or disarm it',
    description: 'One that does neither stays as it is.',
    ...FENCE,
    params: byName,
    status: 200,
    response: MockScenario,
    audit: ['mock_scenario.stopped', 'mock_scenario.disarmed'],
    handle: ({ params: { workspace, name } }, scope) =>
      scope.tx(async (work) => scenarioView(await stopScenario(work, workspace, name, 'stopped'), scope)),
  }),
  defineRoute({
    operationId: 'saveMockStep',
    method: 'put',
    path: `${ROOT}/{name}/steps/{seq}`,
    group: GROUP,
    summary: 'Change a step of a mock scenario, or add it',
    description: 'Holds from the next call on, whether the scenario is armed or not.',
    ...FENCE,
    params: bySeq,
    body: StepPut,
    status: 200,
    response: MockStep,
    audit: ['mock_scenario.step_added', 'mock_scenario.step_changed', 'mock_scenario.disarmed'],
    handle: ({ params: { workspace, name, seq }, body }, { tx }) =>
      tx(async (work) => {
        const { hits } = await scenarioByName(work, workspace, name);
        return { ...(await putStep(work, workspace, name, seq, body)), hits: hits[seq] ?? 0 };
      }),
  }),
  defineRoute({
    operationId: 'armMockScenario',
    method: 'post',
    path: `${ROOT}/{name}/arm`,
    group: GROUP,
    summary: 'Let a mock scenario answer the requests to its workspace',
    description:
      'It goes on where its runs are; `rewind` sets them to the beginning. An armed one gets a new end. Another one that is active gets 409 `locked`, which names it, unless `replace=true`; one that records or has no steps gets 409.',
    ...FENCE,
    params: byName,
    query: ArmQuery,
    body: ArmIn,
    status: 200,
    response: MockScenario,
    errors: ['locked', 'invalid_transition'],
    audit: ['mock_scenario.armed', 'mock_scenario.disarmed', 'mock_scenario.stopped'],
    handle: ({ params: { workspace, name }, query: { replace }, body }, scope) =>
      scope.tx(async (work) =>
        scenarioView(await armScenario(work, workspace, name, { minutes: body?.minutes, replace }), scope),
      ),
  }),
  defineRoute({
    operationId: 'disarmMockScenario',
    method: 'delete',
    path: `${ROOT}/{name}/arm`,
    group: GROUP,
    summary: 'Disarm a mock scenario, whose runs stay where they are',
    description: 'One that is not armed stays as it is.',
    ...FENCE,
    params: byName,
    status: 200,
    response: MockScenario,
    audit: 'mock_scenario.disarmed',
    handle: ({ params: { workspace, name } }, scope) =>
      scope.tx(async (work) => scenarioView(await stopScenario(work, workspace, name, 'disarmed'), scope)),
  }),
  defineRoute({
    operationId: 'rewindMockScenario',
    method: 'post',
    path: `${ROOT}/{name}/rewind`,
    group: GROUP,
    summary: 'Set the cursor, the hits and the variables of a mock scenario to the beginning',
    description: 'Runs that `X-Mock-Run` names are removed.',
    ...FENCE,
    params: byName,
    status: 200,
    response: MockScenario,
    audit: ['mock_scenario.rewound', 'mock_scenario.disarmed'],
    handle: ({ params: { workspace, name } }, scope) =>
      scope.tx(async (work) => scenarioView(await rewindScenario(work, workspace, name), scope)),
  }),
];
