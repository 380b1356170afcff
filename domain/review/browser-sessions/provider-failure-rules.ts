import type { ProviderFailure, ProviderFailureKind } from './browser-provider.port.ts';
import type { StatusReason } from './session-rules.ts';

export const providerFailure = (kind: ProviderFailureKind, message: string): ProviderFailure => ({
  isOk: false,
  kind,
  message,
});

const PASSING: ReadonlySet<ProviderFailureKind> = new Set(['no_capacity', 'limited', 'unavailable', 'timeout']);

/** Whether what failed may succeed when it is tried again. */
export const isPassing = ({ kind }: Pick<ProviderFailure, 'kind'>): boolean => PASSING.has(kind);

/** Why a session ends that its provider refuses for good. */
export function failureReason({ kind }: Pick<ProviderFailure, 'kind'>): StatusReason {
  if (kind === 'front_door_refused' || kind === 'navigation_failed' || kind === 'no_capacity') return kind;
  return isPassing({ kind }) ? 'provider_unavailable' : 'provider_error';
}

const PAUSE_MAX_MS = 30_000;

/** How long to wait before the next attempt: half as long again with each, up to 30 seconds. */
export const pauseMs = (firstMs: number, attempt: number): number =>
  Math.min(PAUSE_MAX_MS, Math.round(firstMs * 1.5 ** Math.min(attempt - 1, 50)));
