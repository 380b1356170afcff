import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Has Temporal's SDK write its log as the rest of the process does. Once per process, before its first worker. */
export function installRuntime(log: Logger): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // The task queue of a process's own programs has none on purpose.
      if (message.startsWith('No workflows registered')) return;
      if (level === 'ERROR') log.error(meta, message);
      else log.warn(meta, message);
    }),
    // The native core would write to the console in a form of its own.
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
    // Signals are handled with the rest of the process.
    shutdownSignals: [],
  });
}
