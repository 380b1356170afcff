import type { MetricSpan } from './verification-rules.ts';

/** Values of all series of a query, at moments in milliseconds since the epoch. */
type MetricValues =
  | { outcome: 'values'; values: { at: number; value: number }[] }
  /** `refused`: the query cannot be answered; `away`: there was no answer now. */
  | { outcome: 'refused' | 'away'; reason: string };

/** Asks the metrics of a tenant. */
export type ReadMetricValues = (
  tenantId: string,
  query: string,
  span: Pick<MetricSpan, 'from' | 'to' | 'stepMs'>,
  signal: AbortSignal,
) => Promise<MetricValues>;
