import { DefaultLogger, Runtime } from '@temporalio/worker';

// One for all test files of a process; Jest itself handles signals.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  shutdownSignals: [],
});
