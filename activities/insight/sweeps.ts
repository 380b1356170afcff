import { defineChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { purgeBudgetMonths, purgeCalls } from '../../domain/insight/language-models/ai-calls.queries.ts';
import { aiReportsSweep } from './ai-reports/ai-reports.sweep.ts';
import { analysisLogsSweep, analysisResultsSweep } from './code-analysis/analysis-results.sweep.ts';
import { expiredMetricsChore, metricsLaneSweep } from './metrics/metrics.sweep.ts';

/** Longer than the use of AI is shown, and than budgets run. */
const AI_CALLS_KEPT_DAYS = 400;

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  aiReportsSweep,
  analysisLogsSweep,
  analysisResultsSweep,
  expiredMetricsChore,
  metricsLaneSweep,
  defineChore({ name: 'expired-ai-calls', run: ({ system }) => purgeCalls(system, AI_CALLS_KEPT_DAYS) }),
  defineChore({ name: 'ended-ai-budgets', run: ({ system }) => purgeBudgetMonths(system, AI_CALLS_KEPT_DAYS) }),
];
