import type { FlowRunState, FlowRunStep } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

type State = FlowRunState['state'];

/** Tones of states that end a run; the others are left. */
const ENDS: Partial<Record<State, Tone>> = {
  succeeded: 'good',
  partial: 'wait',
  failed: 'bad',
  timed_out: 'bad',
  rejected: 'bad',
  cancelled: 'idle',
  expired: 'idle',
};
const BAD: ReadonlySet<Tone> = new Set(['bad', 'idle']);

export interface TimelineRow {
  state: State;
  since: string | null;
  tone: Tone;
  /** How long it was, or is, in that state; null: it ends the run, or nobody knows. */
  tookMs: number | null;
  detail: string | null;
  isNow: boolean;
}

/** The states of a run as rows: a gate is passed when the run went on, and not where it ended there. */
export function timelineOf(states: readonly FlowRunState[], now: number): TimelineRow[] {
  return states.map(({ state, since, until, detail }, index) => {
    const ending = ENDS[state];
    const next = states[index + 1];
    const isNow = next === undefined && ending === undefined;
    const hasEndedHere = next !== undefined && BAD.has(ENDS[next.state] ?? 'good');
    const end = until === null ? now : Date.parse(until);
    return {
      state,
      since,
      tone: ending ?? (isNow ? toneOfOpen(state) : hasEndedHere ? 'idle' : 'good'),
      tookMs: ending !== undefined || since === null ? null : Math.max(0, end - Date.parse(since)),
      detail,
      isNow,
    };
  });
}

const toneOfOpen = (state: State): Tone => (state === 'running' ? 'busy' : 'wait');

const STEP_TONES: Record<FlowRunStep['state'], Tone> = {
  planned: 'idle',
  asked: 'busy',
  begun: 'busy',
  succeeded: 'good',
  failed: 'bad',
  unknown: 'bad',
  cancelled: 'idle',
  skipped: 'idle',
};

export const toneOfStep = (state: FlowRunStep['state']): Tone => STEP_TONES[state];

/** How long a step took, or takes; null: it has not begun. */
export const stepTookMs = ({ since, until }: Pick<FlowRunStep, 'since' | 'until'>, now: number): number | null =>
  since === null ? null : Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(since));
