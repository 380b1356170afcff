import { AiReportSchema } from './ai-reports/ai-reports.entities.ts';
import { CodeAnalysisScheduleSchema } from './code-analysis/analysis-schedules.entities.ts';
import {
  CodeAnalysisBodySchema,
  CodeAnalysisResultSchema,
  CodeAnalysisSchema,
} from './code-analysis/code-analysis.entities.ts';
import { AiBudgetMonthSchema, AiCallSchema } from './language-models/language-models.entities.ts';
import {
  AiUsageDaySchema,
  MetricSeriesDaySchema,
  MetricSeriesSchema,
  MetricWindowSchema,
} from './metrics/metrics.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  AiReportSchema,
  CodeAnalysisScheduleSchema,
  CodeAnalysisBodySchema,
  CodeAnalysisResultSchema,
  CodeAnalysisSchema,
  AiBudgetMonthSchema,
  AiCallSchema,
  AiUsageDaySchema,
  MetricSeriesDaySchema,
  MetricSeriesSchema,
  MetricWindowSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
