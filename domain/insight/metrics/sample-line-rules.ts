import { type MetricType, TYPE_LABEL } from './series-rules.ts';

/** The state of a series in a window, as the store gets it. */
export interface WindowState {
  name: string;
  type: MetricType;
  labels: Record<string, string>;
  /** Epoch milliseconds of the last event: of a window the store keeps what has the latest time, or else the highest value. */
  lastAt: number;
  last: number;
  count: number;
  sum: number;
}

/** Lines of VictoriaMetrics' `/api/v1/import`: one for a count or gauge, three for timers. */
export function sampleLines({ name, type, labels, lastAt, last, count, sum }: WindowState): string {
  const line = (metric: string, value: number) =>
    `${JSON.stringify({
      metric: { __name__: metric, ...labels, [TYPE_LABEL]: type },
      values: [value],
      timestamps: [Math.round(lastAt)],
    })}\n`;
  if (type === 'count') return line(name, count);
  if (type === 'guage') return line(name, last);
  return line(name, last) + line(`${name}_count`, count) + line(`${name}_sum`, sum);
}
