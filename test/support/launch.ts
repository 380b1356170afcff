import { EngineUnavailableError, type Launch } from '../../workflows/launch.ts';

const away = () => Promise.reject(new EngineUnavailableError('away'));
const nothing = () => undefined;

/** An engine that does not answer. */
export const engineAway: Launch = {
  start: away,
  begin: nothing,
  cancel: away,
  isRunning: away,
  tell: away,
  schedule: away,
  unschedule: away,
  signal: away,
  wake: nothing,
  ask: away,
};

const done = () => Promise.resolve();

/** An engine that takes everything and does nothing; asked, it does not answer. */
export const idleEngine: Launch = {
  ...engineAway,
  start: done,
  cancel: done,
  isRunning: async () => true,
  tell: done,
  schedule: done,
  unschedule: done,
  signal: done,
};
