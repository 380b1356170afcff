import { defineEntity, p } from '@mikro-orm/core';
import { jsonColumn } from '../../kernel/data/columns.ts';
import { tenantOwned } from '../../kernel/data/tenant-owned.ts';
import type { StepProgress, StepState } from './org-step-rules.ts';

/** What a run does in an org that takes a while there. */
export const OrgStepSchema = defineEntity({
  name: 'OrgStep',
  tableName: 'org_step',
  properties: {
    ...tenantOwned,
    runId: p.uuid(),
    position: p.integer(),
    /** For people: `Install Billing 1.4`. */
    name: p.text(),
    /** The registered org; null: the step needs none. */
    orgId: p.uuid().nullable(),
    state: p.text().$type<StepState>().default('planned'),
    /** What the org is asked for, by which it can be asked whether it was. Holds no secret. */
    intent: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    /** Id in the org of what it does. */
    externalId: p.text().nullable(),
    /** What it is at: `Copying files`. */
    detail: p.text().nullable(),
    progress: jsonColumn<StepProgress>().nullable(),
    error: p.text().nullable(),
    result: jsonColumn<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    askedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
  },
});
export class OrgStep extends OrgStepSchema.class {}
OrgStepSchema.setClass(OrgStep);
