import type { ReadMetricValues } from '../../delivery/verification/metric-values.port.ts';
import { type AskMetrics, tooLarge } from './ask-metrics.ts';
import { checkRangeQuery, isTrouble, type QueryTrouble } from './query-rules.ts';

const ANSWER_MAX_BYTES = 2 * 1024 * 1024;

interface RangeAnswer {
  data: { result: { values?: [at: number, value: string][] }[] };
}

/** A query that will not be answered however often it is asked, else one that may be. */
const troubled = ({ errorType, error }: QueryTrouble) =>
  ({ outcome: errorType === 'bad_data' || errorType === 'execution' ? 'refused' : 'away', reason: error }) as const;

/** What values a query has over a time, within the bounds of every query of metrics. */
export const createReadMetricValues =
  (ask: AskMetrics): ReadMetricValues =>
  async (tenantId, query, { from, to, stepMs }, signal) => {
    const seconds = (moment: number) => String(moment / 1_000);
    const checked = checkRangeQuery({ query, start: seconds(from), end: seconds(to), step: seconds(stepMs) });
    const answer = await ask(tenantId, 'query_range', checked, { signal, maxBytes: ANSWER_MAX_BYTES });
    if (isTrouble(answer)) return troubled(answer);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of answer.json) chunks.push(chunk);
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as RangeAnswer;
      const values = data.result.flatMap((series) => series.values ?? []);
      return { outcome: 'values', values: values.map(([at, value]) => ({ at: at * 1_000, value: numberOf(value) })) };
    } catch (error) {
      const trouble = tooLarge(error);
      if (trouble) return troubled(trouble);
      throw error;
    }
  };

/** Prometheus writes `+Inf`. */
const numberOf = (text: string): number =>
  /^[+-]?Inf$/.test(text) ? Number(text.replace('Inf', 'Infinity')) : Number(text);
