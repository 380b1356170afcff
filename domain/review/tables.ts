import {
  BrowserHostSchema,
  BrowserLiveLinkSchema,
  BrowserReplayPageSchema,
  BrowserSessionEventSchema,
  BrowserSessionSchema,
} from './browser-sessions/browser-sessions.entities.ts';
import { ReviewAssignmentSchema } from './review-assignments/review-assignments.entities.ts';
import { ReviewInstanceSchema, ReviewPoolSchema } from './review-pools/review-pools.entities.ts';
import { ReviewRuleSchema } from './review-rules/review-rules.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  BrowserHostSchema,
  BrowserLiveLinkSchema,
  BrowserReplayPageSchema,
  BrowserSessionEventSchema,
  BrowserSessionSchema,
  ReviewAssignmentSchema,
  ReviewInstanceSchema,
  ReviewPoolSchema,
  ReviewRuleSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
