export const SCENARIO_STATUSES = ['idle', 'recording', 'armed', 'stopped'] as const;
export type ScenarioStatus = (typeof SCENARIO_STATUSES)[number];

export type ScenarioMove = 'record' | 'arm' | 'stop';

const MOVES: Record<ScenarioStatus, Partial<Record<ScenarioMove, ScenarioStatus>>> = {
  idle: { record: 'recording', arm: 'armed' },
  recording: { stop: 'stopped' },
  stopped: { record: 'recording', arm: 'armed' },
  armed: { stop: 'stopped' },
};

/** The status that a move leads to; undefined where it is not allowed. */
export const statusAfter = (status: ScenarioStatus, move: ScenarioMove): ScenarioStatus | undefined =>
  MOVES[status][move];

/** Whether requests to the workspace reach the scenario; at most one of a workspace is active. */
export const isActive = (status: ScenarioStatus): boolean => status === 'recording' || status === 'armed';

export const ARM_MINUTES = 24 * 60;
export const ARM_MINUTES_MAX = 7 * 24 * 60;

/** Whether a scenario answers: an armed one disarms itself by its time, before a sweep says so. */
export const isAnswering = (status: ScenarioStatus, armedUntil: Date | null, now: Date): boolean =>
  status === 'armed' && armedUntil !== null && armedUntil > now;
