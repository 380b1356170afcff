import { EngineUnavailableError, type Launch } from '../../workflows/launch.ts';

const away = () => Promise.reject(new EngineUnavailableError('away'));
const nothing = () => undefined;

/** An engine that does not answer. */
export const engineAway: Launch = {
  idOf: (contract, input) => contract.workflowId(input),
  start: away,
  startInBackground: nothing,
  cancel: away,
  isRunning: away,
  signal: away,
  signalWithStart: away,
  signalWithStartInBackground: nothing,
  updateWithStart: away,
  createSchedule: away,
  deleteSchedule: away,
};

const done = () => Promise.resolve();

/** An engine that accepts everything and does nothing; updates are not answered. */
export const idleEngine: Launch = {
  ...engineAway,
  start: done,
  cancel: done,
  isRunning: async () => true,
  signal: done,
  signalWithStart: done,
  createSchedule: done,
  deleteSchedule: done,
};

/** An engine that notes what is started; it says of every workflow the same, or that those run which it started. */
export function recordingEngine() {
  const seen = { started: [] as unknown[], isRunning: 'if started' as boolean | 'if started' };
  const running = new Set<string>();
  const launch: Launch = {
    ...engineAway,
    async start(contract, input) {
      seen.started.push(input);
      running.add(contract.workflowId(input));
    },
    isRunning: async (contract, input) =>
      seen.isRunning === 'if started' ? running.has(contract.workflowId(input)) : seen.isRunning,
  };
  return { seen, launch };
}
