import type { FlowRun } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

export type RunStatus = FlowRun['status'];

const TONES: Record<RunStatus, Tone> = {
  Waiting: 'wait',
  Running: 'busy',
  Completed: 'good',
  Partial: 'wait',
  Failed: 'bad',
  Cancelled: 'idle',
};

/** Statuses as people see them, in the order of their filter: what fails stands first. */
export const RUN_STATUSES = ['Failed', 'Running', 'Waiting', 'Partial', 'Completed', 'Cancelled'] as const;

export const toneOfRun = (status: RunStatus): Tone => TONES[status];

/** Whether it goes on, or may. */
export const isOpenRun = (status: RunStatus): boolean => status === 'Waiting' || status === 'Running';

/** Why a run is where it is, in one sentence of the service: what failed, or what it waits for. */
export const reasonOf = ({ success, waitsFor, status }: Pick<FlowRun, 'success' | 'waitsFor' | 'status'>): string =>
  (isOpenRun(status) ? waitsFor : success?.error) ?? '';

/** A run by what it takes: its type, and its release. */
export const nameOfRun = ({ taskType, releaseName }: Pick<FlowRun, 'taskType' | 'releaseName'>): string =>
  [taskType, releaseName].filter(Boolean).join(' ');

/** Fewer say nothing about the next one. */
const DURATIONS_MIN = 3;

export interface Estimate {
  medianMs: number;
  /** The number of runs whose durations it is taken from. */
  count: number;
}

/**
 * How long a run usually takes: the median of those of its type that succeeded in the same environment, itself not counted.
 * Undefined: too few did.
 */
export function estimateOf(
  { id, environmentName }: Pick<FlowRun, 'id' | 'environmentName'>,
  past: readonly Pick<FlowRun, 'id' | 'environmentName' | 'durationMs' | 'status'>[],
): Estimate | undefined {
  const durations = past
    .filter((each) => each.id !== id && each.environmentName === environmentName && each.status === 'Completed')
    .flatMap(({ durationMs }) => durationMs ?? [])
    .toSorted((a, b) => a - b);
  const count = durations.length;
  if (count < DURATIONS_MIN) return undefined;
  const [low = 0, high = 0] = [durations[Math.ceil(count / 2) - 1], durations[Math.floor(count / 2)]];
  return { medianMs: (low + high) / 2, count };
}

type Payload = Record<string, unknown>;

/** A payload that somebody wrote, or why it is none. */
export function payloadOf(text: string): { payload: Payload } | { wrong: string } {
  try {
    const payload: unknown = JSON.parse(text);
    if (typeof payload === 'object' && payload !== null && !Array.isArray(payload))
      return { payload: payload as Payload };
    return { wrong: text.trim().slice(0, 40) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

const PAYLOAD_POINTER = '#/body/payload';

/** What a refusal says about members of the payload, each by its pointer within it. Undefined: nothing. */
export function errorsOfPayload(
  errors: readonly { pointer: string; detail: string }[] | undefined,
): string | undefined {
  const found = (errors ?? [])
    .filter(({ pointer }) => pointer === PAYLOAD_POINTER || pointer.startsWith(`${PAYLOAD_POINTER}/`))
    .map(({ pointer, detail }) => `${pointer.slice(PAYLOAD_POINTER.length) || '/'}: ${detail}`);
  return found.length === 0 ? undefined : found.join('; ');
}
