/** What is read of the store, by the last part of its path. */
export type StoreRead = 'query' | 'query_range' | 'series' | 'labels' | `label/${string}/values`;

/** Parameters by name; those that repeat stand more than once. */
export type StoreParameters = readonly (readonly [name: string, value: string])[];

/** `lost`: the store was there when it was asked, and ended before it had answered, or in the middle of its answer. */
export type StoreAnswer =
  | { outcome: 'answered'; status: number; body: AsyncIterable<Uint8Array>; end: Promise<'ended' | 'lost'> }
  | { outcome: 'away' | 'timeout' | 'lost' };

/** The store cannot be reached, or is not able to answer. */
export class MetricsStoreAwayError extends Error {}

/** The store of metrics: VictoriaMetrics, or what has its interface. Every read and write is fenced to one tenant. */
export interface MetricsStore {
  /** Writes samples, a line of JSON each. Rejects when the store refuses; with `MetricsStoreAwayError` when it is away. */
  write: (tenantId: string, lines: string) => Promise<void>;
  read: (
    tenantId: string,
    what: StoreRead,
    parameters: StoreParameters,
    options: { timeoutMs: number; signal: AbortSignal },
  ) => Promise<StoreAnswer>;
  /** When it was started, in epoch seconds; undefined if it does not say so. Rejects with `MetricsStoreAwayError`. */
  startedAt: () => Promise<number | undefined>;
  /** Resolves when it answers; rejects with `MetricsStoreAwayError`. */
  check: () => Promise<void>;
  /** Why it cannot be used, as one sentence; undefined also when it does not answer. */
  problem: () => Promise<string | undefined>;
  close: () => Promise<void>;
}

/** The label that holds the tenant in the store; clients never see it. */
export const TENANT_LABEL = '__tenant_id__';
