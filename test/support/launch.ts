import { EngineUnavailableError, type Launch, type WorkflowState } from '../../workflows/launch.ts';

const away = () => Promise.reject(new EngineUnavailableError('away'));
const nothing = () => undefined;

/** An engine that does not answer. */
export const engineAway: Launch = {
  idOf: (contract, input) => contract.workflowId(input),
  start: away,
  startInBackground: nothing,
  cancel: away,
  stateOf: away,
  signal: away,
  signalWithStart: away,
  signalWithStartInBackground: nothing,
  updateWithStart: away,
  setSchedule: away,
  scheduleIds: away,
  deleteSchedule: away,
};

const done = () => Promise.resolve();

/** An engine that accepts everything and does nothing; updates are not answered. */
export const idleEngine: Launch = {
  ...engineAway,
  start: done,
  cancel: done,
  stateOf: async () => 'running',
  signal: done,
  signalWithStart: done,
  setSchedule: done,
  scheduleIds: async () => new Set(),
  deleteSchedule: done,
};

/** An engine that notes what is started; it says of every workflow the same, or knows those alone which it started. */
export function recordingEngine() {
  const seen = { started: [] as unknown[], state: 'if started' as WorkflowState | 'if started' };
  const running = new Set<string>();
  const launch: Launch = {
    ...engineAway,
    async start(contract, input) {
      seen.started.push(input);
      running.add(contract.workflowId(input));
    },
    async stateOf(contract, input) {
      if (seen.state !== 'if started') return seen.state;
      return running.has(contract.workflowId(input)) ? 'running' : 'absent';
    },
  };
  return { seen, launch };
}
