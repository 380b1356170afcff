import {
  WorkItemRequestCountSchema,
  WorkItemRequestExecutionSchema,
  WorkItemRequestSchema,
  WorkItemRequestTallySchema,
} from './work-item-requests/work-item-requests.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  WorkItemRequestCountSchema,
  WorkItemRequestExecutionSchema,
  WorkItemRequestSchema,
  WorkItemRequestTallySchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
