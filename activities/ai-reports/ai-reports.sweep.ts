import { failReport } from '../../domain/ai-reports/generation.mutations.ts';
import { stalledReports } from '../../domain/ai-reports/generation.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { aiReportContract } from '../../workflows/ai-reports/ai-report.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A report that was asked for this long ago and has not begun was not launched. */
const QUEUED_MAX_SECONDS = 30;
/** A generation that has been running for this long may have lost its workflow. */
const RUNNING_MAX_SECONDS = 300;

/** Launches generations whose launch was lost, and settles those whose workflow somebody ended. */
export const aiReportsSweep = defineSweep({
  name: 'ai-reports',
  limit: 200,
  due: ({ system }, limit) =>
    stalledReports(system, { queuedSeconds: QUEUED_MAX_SECONDS, runningSeconds: RUNNING_MAX_SECONDS, limit }),
  key: ({ reportId }) => reportId,
  async handle({ launch, actingAs }, { isNew, ...input }) {
    if (isNew) await launch.start(aiReportContract, input);
    else if (await launch.isRunning(aiReportContract, input)) return 0;
    else {
      const error = 'interrupted: The generation was ended from outside';
      await actingAs(systemActor(input, 'ai-report'))((tx) => failReport(tx, input.reportId, error));
    }
    return 1;
  },
});
