import {
  MockCallSchema,
  MockDriftSchema,
  MockRunSchema,
  MockScenarioSchema,
  MockStepSchema,
  MockWorkspaceSchema,
} from './mocks.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  MockCallSchema,
  MockDriftSchema,
  MockRunSchema,
  MockScenarioSchema,
  MockStepSchema,
  MockWorkspaceSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
