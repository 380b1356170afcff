import type { TenantKey } from './shared/actor.ts';

/**
 * What a workflow is signalled about after the commit of a change, by kind: what names it within its tenant. Areas add
 * theirs in files `*.signals.ts`.
 */
export interface Signals {}

/** Signals what changed in a tenant. Each returns at once and never throws; the sweeper finds what a lost signal was about. */
export type SignalsByKind = {
  readonly [Kind in keyof Signals]: (tenant: TenantKey, changed: readonly Signals[Kind][]) => void;
};
