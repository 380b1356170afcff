import { Registry } from 'prom-client';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import type { Dependency } from '../domain/kernel/system/outages.ts';
import { type Base, type BaseParts, openBase } from './base.ts';
import { createCodeWork } from './code/parts.ts';
import { createDeliveryParts, createDeliveryWork, type DeliveryParts } from './delivery/parts.ts';
import type { Deps } from './deps.ts';
import { createEventWork } from './events/parts.ts';
import { createInsightParts, createInsightWork, type InsightParts } from './insight/parts.ts';
import { createMockParts, createMockWork, type MockParts } from './mocks/parts.ts';
import { createOrgParts, createOrgWork, type OrgParts } from './orgs/parts.ts';
import { createPeopleParts, type PeopleParts } from './people/parts.ts';
import { createReviewParts, createReviewWork, type ReviewParts } from './review/parts.ts';
import { createWorkParts, type WorkParts } from './work/parts.ts';

/** What the API and the workers share; made once per process, by tests from the same configuration. */
export interface Backend
  extends Base,
    MockParts,
    OrgParts,
    DeliveryParts,
    ReviewParts,
    WorkParts,
    PeopleParts,
    InsightParts {
  /** What it reaches over the network, but for the engine. */
  dependencies: readonly Dependency[];
  close: () => Promise<void>;
}

/** Connects to nothing yet: connections are made when they are needed. */
export function createBackend(parts: Omit<BaseParts, 'measure'>): Backend {
  const opened = openBase({ ...parts, measure: (tenant, events) => insight.measure(tenant, events) });
  const base = { ...opened.base, ...createMockParts(opened.base) };
  const orgs = createOrgParts(base);
  const review = createReviewParts(base, opened.localRecordings);
  const work = createWorkParts(base);
  const people = createPeopleParts(base);
  const insight = createInsightParts(base);
  return {
    ...base,
    ...orgs.parts,
    ...createDeliveryParts(base),
    ...review.parts,
    ...work.parts,
    ...people.parts,
    ...insight.parts,
    dependencies: [...opened.dependencies, insight.dependency],
    async close() {
      // What was measured is still written.
      await insight.close?.();
      await Promise.all([opened.close(), ...[orgs, review, work, people].map(({ close }) => close?.())]);
    },
  };
}

export interface WorkerBackend {
  deps: Deps;
  /** Closes the backend, too. */
  close: () => Promise<void>;
}

/** What the activities of a worker reach beside what it shares with the API. */
export function createWorkerBackend(backend: Backend): WorkerBackend {
  const { access, config, onConnectionLost } = backend;
  const systemAccess = { ...access, role: `${config.DATABASE_APP_ROLE}_system` };
  const system = connectDatabase(systemAccess, onConnectionLost);
  const events = createEventWork(backend, systemAccess);
  const mocks = createMockWork(backend);
  const code = createCodeWork(backend);
  const insight = createInsightWork(backend);
  return {
    deps: {
      ...backend,
      system: system.db,
      metrics: new Registry(),
      ...events.parts,
      ...mocks.parts,
      ...code.parts,
      ...createOrgWork(backend).parts,
      ...createDeliveryWork(backend).parts,
      ...createReviewWork(backend).parts,
      ...insight.parts,
      retention: {
        reviewDays: config.REVIEW_RETENTION_DAYS,
        pullRequestDays: config.PULL_REQUEST_RETENTION_DAYS,
        mockCallDays: config.MOCK_CALL_RETENTION_DAYS,
      },
    },
    async close() {
      await Promise.all([
        backend.close(),
        system.close(),
        ...[events, mocks, code, insight].map(({ close }) => close?.()),
      ]);
    },
  };
}
