import { DefaultLogger, Runtime } from '@temporalio/worker';

// For all workers of a process; Jest itself handles signals. Shut down until the first worker needs it, since a core
// without workers would keep the process from ending: its options remain.
await Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  shutdownSignals: [],
}).shutdown();
