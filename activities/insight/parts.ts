import { join, resolve } from 'node:path';
import type { CodeAnalyzer } from '../../domain/insight/code-analysis/jobs/code-analyzer.port.ts';
import { createAskModel } from '../../domain/insight/language-models/ask-model.ts';
import type { AskModel } from '../../domain/insight/language-models/ask-model.port.ts';
import type { ReadMetricValues } from '../../domain/delivery/verification/metric-values.port.ts';
import { createAskMetrics } from '../../domain/insight/metrics/ask-metrics.ts';
import { createReadMetricValues } from '../../domain/insight/metrics/metric-values.ts';
import { createIngest, type IngestMetrics } from '../../domain/insight/metrics/ingest.mutations.ts';
import type { MetricsStore } from '../../domain/insight/metrics/metrics-store.port.ts';
import { createOwnMetrics, type OwnMetrics } from '../../domain/insight/metrics/own-metrics.ts';
import { type Config, ConfigError } from '../../domain/kernel/settings/config.ts';
import type { Dependency } from '../../domain/kernel/system/outages.ts';
import { signalMetricsLane } from '../../workflows/insight/metrics/metrics-lane.contract.ts';
import { createSalesforceAnalyzer } from '../adapters/analyzer/salesforce-analyzer.ts';
import { metricsDependency } from '../adapters/metrics/metrics-dependency.ts';
import { createMetricsStore } from '../adapters/metrics/metrics-store.ts';
import { createLanguageModels } from '../adapters/models/language-models.ts';
import type { Base, Made } from '../base.ts';
import type { MockParts } from '../mocks/parts.ts';

export interface InsightParts {
  /** Undefined where there is none: metrics are kept for it, and cannot be queried. */
  metricsStore: MetricsStore | undefined;
  metrics: {
    intake: IngestMetrics;
    /** There is something for the store. */
    signalLane: () => void;
  };
}

export interface MadeInsight extends Made<InsightParts> {
  dependency: Dependency;
  measure: OwnMetrics['measure'];
}

export function createInsightParts({ config, launch, actingAs, now, log, outages }: Base): MadeInsight {
  const { METRICS_URL: url } = config;
  const metricsStore = url === undefined ? undefined : createMetricsStore(url, outages.reporter('metrics'));
  const metrics = {
    intake: createIngest({ seriesPerDay: config.METRICS_SERIES_PER_DAY, bufferRows: config.METRICS_BUFFER_ROWS }),
    signalLane: () => {
      if (metricsStore) signalMetricsLane(launch);
    },
  };
  const own = createOwnMetrics({ ...metrics, actingAs, now, log });
  const dependency = metricsDependency(metricsStore);
  outages.watch(dependency);
  return {
    parts: { metricsStore, metrics },
    dependency,
    measure: own.measure,
    async close() {
      await own.settled();
      await metricsStore?.close();
    },
  };
}

/** Throws `ConfigError` for a metrics store that would not keep what is sent as it is meant; one that is away may come. */
export async function assertFitMetricsStore({ METRICS_URL: url }: Config): Promise<void> {
  if (url === undefined) return;
  const store = createMetricsStore(url);
  const problem = await store.problem().finally(() => store.close());
  if (problem !== undefined) throw new ConfigError(problem);
}

export interface InsightWork {
  /** Asks the language model of a project. */
  askModel: AskModel;
  /** What the metrics of a tenant say over a time. */
  readMetricValues: ReadMetricValues;
  analysis: {
    analyzer: CodeAnalyzer;
    /** Analyses of this process at the same time. */
    atOnce: number;
  };
}

export function createInsightWork({
  config,
  hosts,
  actingAs,
  encryption,
  log,
  metricsStore,
}: Base & Pick<MockParts, 'hosts'> & Pick<InsightParts, 'metricsStore'>): Made<InsightWork> {
  const models = createLanguageModels({ addresses: hosts, callTimeoutMs: config.AI_CALL_TIMEOUT_SECONDS * 1_000 });
  return {
    parts: {
      readMetricValues: createReadMetricValues(createAskMetrics(metricsStore)),
      askModel: createAskModel({ actingAs, encryption, log, callModel: models.call }),
      analysis: {
        analyzer: createSalesforceAnalyzer({
          folder: resolve(config.ANALYSIS_DIR ?? join(config.DATA_DIR, 'analysis')),
          heapMb: config.ANALYSIS_HEAP_MB,
        }),
        atOnce: config.ANALYSIS_AT_ONCE,
      },
    },
    close: models.close,
  };
}
