import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../kernel/data/columns.ts';
import { tenantOwned } from '../kernel/data/tenant-owned.ts';
import type { DriftChange } from './drift/drift-rules.ts';
import type { ScenarioStatus } from './scenarios/scenario-rules.ts';
import type { PrefixedUpstream } from './serving/scenario-upstreams.ts';
import type { MockMode, StepRequest, StepResponse, Unmatched } from './scenarios/step-rules.ts';

/** What clients under test reach by a key, which stands for the tenant and the workspace. */
export const MockWorkspaceSchema = defineEntity({
  name: 'MockWorkspace',
  tableName: 'mock_workspace',
  properties: {
    ...tenantOwned,
    name: p.text(),
    /** Encrypted. */
    key: p.text(),
    keyHash: p.text(),
  },
});
export class MockWorkspace extends MockWorkspaceSchema.class {}
MockWorkspaceSchema.setClass(MockWorkspace);

export const MockScenarioSchema = defineEntity({
  name: 'MockScenario',
  tableName: 'mock_scenario',
  properties: {
    ...tenantOwned,
    workspaceId: p.uuid(),
    name: p.text(),
    description: p.text().default(''),
    status: p.text().$type<ScenarioStatus>(),
    mode: p.text().$type<MockMode>(),
    upstream: p.text().nullable(),
    upstreams: jsonColumn<PrefixedUpstream[]>().defaultRaw("'[]'::jsonb"),
    unmatched: jsonColumn<Unmatched>(),
    /** Draws delays and faults. */
    seed: p.integer(),
    /** Counts changes of the steps and of what says how they answer: processes that compiled another one read anew. */
    version: p.integer().default(1),
    /** Counts rewinds; calls are of one round. */
    round: p.integer().default(1),
    armedUntil: p.datetime(3).nullable(),
    /** Matched calls of runs that were removed since the last rewind. */
    matchedBefore: p.integer().default(0),
    unmatchedBefore: p.integer().default(0),
    /** When requests without a step were last announced. */
    unmatchedAt: p.datetime(3).nullable(),
    createdBy: p.text(),
    updatedBy: p.text(),
  },
});
export class MockScenario extends MockScenarioSchema.class {}
MockScenarioSchema.setClass(MockScenario);

/** How a body was given: JSON, text, or bytes in base64. */
export type BodyForm = 'json' | 'text' | 'base64';

export const MockStepSchema = defineEntity({
  name: 'MockStep',
  tableName: 'mock_step',
  properties: {
    tenantId: p.uuid().primary(),
    scenarioId: p.uuid().primary(),
    seq: p.integer().primary(),
    request: jsonColumn<StepRequest>(),
    /** Without the body. */
    response: jsonColumn<Omit<StepResponse, 'body' | 'bodyBase64'>>(),
    /** The body as it is sent, or its template. */
    body: p.blob().nullable(),
    bodyForm: p.text().$type<BodyForm>().nullable(),
    times: p.integer().nullable(),
  },
});
export class MockStep extends MockStepSchema.class {}
MockStepSchema.setClass(MockStep);

/** Where one client is in a scenario. */
export const MockRunSchema = defineEntity({
  name: 'MockRun',
  tableName: 'mock_run',
  properties: {
    tenantId: p.uuid().primary(),
    scenarioId: p.uuid().primary(),
    /** Name of the run, as `X-Mock-Run` gives it; empty for requests without that header. */
    name: p.text().primary(),
    /** Counts changes: whoever knows another state must not write. */
    revision: p.integer().default(0),
    /** The step that `strict` has used up last; in other modes the one that answered last. */
    cursor: p.integer().default(0),
    /** Answers of each step, by its number. */
    hits: jsonColumn<Record<string, number>>().defaultRaw("'{}'::jsonb"),
    variables: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    matched: p.integer().default(0),
    unmatched: p.integer().default(0),
    usedAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const MOCK_OUTCOMES = ['matched', 'unmatched', 'passed_on', 'recorded'] as const;
export type MockOutcome = (typeof MOCK_OUTCOMES)[number];

/** What is kept of a request; secrets are left out, long bodies are cut. */
export interface CalledRequest {
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  /** JSON or the fields of a form; text as it came. Absent: none, or bytes that are no text. */
  body?: unknown;
  bodyBytes: number;
}

/** A call of the mock server. */
export const MockCallSchema = defineEntity({
  name: 'MockCall',
  tableName: 'mock_call',
  properties: {
    tenantId: p.uuid().primary(),
    scenarioId: p.uuid().primary(),
    /** In the order of the calls. */
    number: p.bigint('string').generated('identity').autoincrement().primary(),
    calledAt: p.datetime(3).defaultRaw('now()'),
    run: p.text(),
    round: p.integer(),
    outcome: p.text().$type<MockOutcome>(),
    seq: p.integer().nullable(),
    method: p.text(),
    path: p.text(),
    status: p.integer().nullable(),
    fault: p.text().nullable(),
    request: jsonColumn<CalledRequest>(),
  },
});
export class MockCall extends MockCallSchema.class {}
MockCallSchema.setClass(MockCall);

export const DRIFT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;

/** A step whose upstream answers otherwise by now, or does not answer. */
export interface DriftFinding {
  seq: number;
  method: string;
  path: string;
  changes: DriftChange[];
  /** Why the upstream gave no answer; null where it did. */
  error: string | null;
}

/** A comparison of a scenario with the host that it stands for. */
export const MockDriftSchema = defineEntity({
  name: 'MockDrift',
  tableName: 'mock_drift',
  properties: {
    ...tenantOwned,
    scenarioId: p.uuid(),
    status: p.text().$type<(typeof DRIFT_STATUSES)[number]>().default('queued'),
    requestedBy: p.text(),
    /** Steps that the upstream was asked for. */
    checked: p.integer().default(0),
    /** Steps that cannot be asked for: of other methods, or of paths with a part that is variable. */
    skipped: p.integer().default(0),
    findings: jsonColumn<DriftFinding[]>().defaultRaw("'[]'::jsonb"),
    error: p.text().nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});
export class MockDrift extends MockDriftSchema.class {}
MockDriftSchema.setClass(MockDrift);
