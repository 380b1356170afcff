import { Readable } from 'node:stream';
import { exportScenario } from '../../domain/mocks/scenarios/export-scenario.ts';
import { recordAgain } from '../../domain/mocks/recording/recorded-steps.mutations.ts';
import { importScenario } from '../../domain/mocks/scenarios/import-scenario.ts';
import { ANY_ROLE, defineRoute } from '../http/define-route.ts';
import { RawReply } from '../http/replies.ts';
import { z } from 'zod';
import { IMPORT_MAX_BYTES, ImportIn, ImportOut } from './mock-documents.schemas.ts';
import { scenarioView } from './mocks.routes.ts';
import { byName, inWorkspace, MockScenario } from './mocks.schemas.ts';

const GROUP = 'Mock scenarios';
const ROOT = '/api/mocks/workspaces/{workspace}/scenarios';

/** Scenarios as documents: our own YAML, and those of other tools. */
export const mockDocumentsRoutes = [
  defineRoute({
    operationId: 'importMockScenario',
    method: 'post',
    path: `${ROOT}/import`,
    group: GROUP,
    summary: 'Make a mock scenario of a document',
    description:
      'The scenario is idle. Of HTTP archives requests are compared by method, path, query and body, never by credentials, and secrets of answers become stand-ins; of OpenAPI each operation answers with its example, or with a sample of its schema, which repeat members of the request, and `Prefer` asks for others (`code=404`, `example=name`, `dynamic=true`: the sample); of WireMock a mapping with a criterion that has no counterpart is not taken, and a zip gives the files that mappings name. Aliases are refused in YAML, which has at most 16 MB. The reply lists what was not taken. Of each tenant one document is read at a time, and a few wait (429).',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: inWorkspace,
    body: ImportIn,
    bodyLimitBytes: IMPORT_MAX_BYTES,
    status: 201,
    response: ImportOut,
    errors: ['already_exists', 'payload_too_large'],
    audit: 'mock_scenario.created',
    async handle({ params: { workspace }, body }, scope) {
      const { tx, actor, adapters } = scope;
      const { encryption, mocks } = adapters;
      const parts = { tx, tenantId: actor.tenantId, encryption, outbound: mocks.upstreams, signal: scope.gone() };
      const { row, notTaken } = await importScenario(parts, workspace, body);
      return { scenario: scenarioView(row, scope), notTaken };
    },
  }),
  defineRoute({
    operationId: 'exportMockScenario',
    method: 'get',
    path: `${ROOT}/{name}/export.yaml`,
    group: GROUP,
    summary: 'Export a mock scenario as YAML',
    description:
      'Mode, seed, upstream and steps in one order and form: imported and exported again it is the same, byte by byte. Its name, its state and its calls are not in it.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: byName,
    status: 200,
    response: z.string(),
    contentTypes: ['application/yaml'],
    async handle({ params: { workspace, name } }, { reads }) {
      const parts = await exportScenario(reads.with({ pace: 'varies', isContinued: true }), workspace, name);
      return new RawReply('application/yaml; charset=utf-8', Readable.from(parts), {
        'Content-Disposition': 'attachment; filename="scenario.yaml"',
      });
    },
  }),
  defineRoute({
    operationId: 'recordMockScenario',
    method: 'post',
    path: `${ROOT}/{name}/record`,
    group: GROUP,
    summary: 'Let a mock scenario record again, from the beginning',
    description:
      'Its steps, runs and calls are removed. While it records, requests to the workspace are passed on to the upstream, and each becomes the next step, which answers once; credentials and other secrets become stand-ins. Without an upstream requests get 501, and are steps of which the response can be put. One that is active gets 409, and so does one beside another that is.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    params: byName,
    status: 200,
    response: MockScenario,
    errors: ['locked', 'invalid_transition'],
    audit: ['mock_scenario.recorded_again', 'mock_scenario.rewound', 'mock_scenario.disarmed'],
    handle: ({ params: { workspace, name } }, scope) =>
      scope.tx(async (work) => scenarioView(await recordAgain(work, workspace, name), scope)),
  }),
];
