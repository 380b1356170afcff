import { z } from 'zod';
import { Name } from '../../projects/policies/pipeline.schemas.ts';

export const WORK_ITEM_TYPES = [
  'host-a-issue',
  'host-a-pr',
  'host-a-commit',
  'host-b-workitem',
  'host-b-commit',
  'host-c-commit',
  'tracker-a-issue',
] as const;

export const WorkItemRef = z.strictObject({
  type: z.enum(WORK_ITEM_TYPES),
  key: Name,
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  repository: Name.optional(),
  organization: Name.optional(),
  project: Name.optional(),
});
export type WorkItemRef = z.output<typeof WorkItemRef>;
