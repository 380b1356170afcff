import { deleteBody } from '../../../domain/insight/code-analysis/analyses.queries.ts';
import {
  overdueBranches,
  surplusBodies,
} from '../../../domain/insight/code-analysis/comparisons/comparisons.queries.ts';
import { logKey } from '../../../domain/insight/code-analysis/sarif/log-upload.ts';
import {
  analysisResultsContract,
  resultsStoredSignal,
} from '../../../workflows/insight/code-analysis/analysis-results.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** The signal of results that were not compared for so long was lost. */
const COMPARISON_MAX_SECONDS = 30;
/** A status that the git host did not take is offered again. */
const STATUS_AGAIN_SECONDS = 600;
/** Longer than any upload takes. */
const UPLOAD_MAX_SECONDS = 86_400;
const MINUTE_MS = 60_000;

/** Has results compared whose signal was lost, and commit statuses written that the host did not take. */
export const analysisResultsSweep = defineSweep({
  name: 'analysis-results',
  limit: 200,
  due: ({ system }, limit) =>
    overdueBranches(system, {
      comparisonSeconds: COMPARISON_MAX_SECONDS,
      statusSeconds: STATUS_AGAIN_SECONDS,
      limit,
    }),
  key: ({ tenantId, projectId, branch }) => `${tenantId} ${projectId} ${branch}`,
  async handle({ launch }, branch) {
    if ((await launch.stateOf(analysisResultsContract, branch)) === 'running') return 0;
    await launch.signalWithStart(analysisResultsContract, branch, resultsStoredSignal);
    return 1;
  },
});

/** Removes SARIF logs of uploads that broke off, and of analyses that are gone. */
export const analysisLogsSweep = defineSweep({
  name: 'analysis-logs',
  everyMs: 10 * MINUTE_MS,
  limit: 1_000,
  isRoutine: true,
  due: ({ system }, limit) => surplusBodies(system, { seconds: UPLOAD_MAX_SECONDS, limit }),
  key: ({ tenantId, id }) => `${tenantId} ${id}`,
  async handle({ system, objects }, { tenantId, id }) {
    await objects.remove(logKey(tenantId, id));
    await deleteBody({ db: system, tenantId }, id);
  },
});
