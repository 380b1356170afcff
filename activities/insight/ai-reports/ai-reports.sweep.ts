import { failReport } from '../../../domain/insight/ai-reports/generation.mutations.ts';
import { namesOfReport } from '../../../domain/insight/ai-reports/generation.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { aiReportContract } from '../../../workflows/insight/ai-reports/ai-report.contract.ts';
import { defineStalledWorkSweep } from '../../kernel/system/stalled-work-sweep.ts';

/** Launches generations whose launch was lost, and settles those whose workflow somebody ended. */
export const aiReportsSweep = defineStalledWorkSweep({
  name: 'ai-reports',
  table: 'ai_report',
  contract: aiReportContract,
  runningMaxSeconds: 300,
  inputOf: async (tenant, reportId, { reads }) => ({
    ...tenant,
    reportId,
    ...(await namesOfReport(reads.as(systemActor(tenant, 'ai-report')), reportId)),
  }),
  end: ({ actingAs }, input) =>
    actingAs(systemActor(input, 'ai-report'))((tx) =>
      failReport(tx, input.reportId, 'interrupted: The generation was ended from outside'),
    ),
});
