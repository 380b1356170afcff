import { trace } from '@opentelemetry/api';
import { startTelemetry } from '../../activities/adapters/metrics/telemetry.ts';
import { otlpCollector } from '../simulators/otlp-collector.ts';

test('what is not exported yet is when a process stops', async () => {
  const collector = await otlpCollector();
  const telemetry = await startTelemetry('quayside-worker', collector.url);
  const span = trace.getTracer('test').startSpan('webhook delivery');
  span.end();
  const { traceId } = span.spanContext();
  expect(collector.spans()).toEqual([]);
  await telemetry.shutdown();
  expect(collector.spans()).toEqual([{ service: 'quayside-worker', name: 'webhook delivery', traceId }]);
  await collector.close();
});
