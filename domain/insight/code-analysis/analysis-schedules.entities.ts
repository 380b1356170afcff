import { defineEntity, p } from '@mikro-orm/core';

/** A branch that is analysed each night, since somebody asked for an analysis of it. */
export const CodeAnalysisScheduleSchema = defineEntity({
  name: 'CodeAnalysisSchedule',
  tableName: 'code_analysis_schedule',
  properties: {
    tenantId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    branch: p.text().primary(),
    /** The last night (a date, UTC) in which its turn came. */
    lastNight: p.string().columnType('date').nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});
