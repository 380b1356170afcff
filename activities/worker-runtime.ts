import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ReportAway } from '../domain/kernel/system/outages.ts';

/** The target of the SDK's entries about calls of the engine that failed and are repeated: dozens a second while it is away. */
const REPEATED_CALLS = 'temporalio_client::retry';

/**
 * Has Temporal's SDK write its log as the rest of the process does. Once per process, before its first worker.
 * @param onAway is told each time that the engine is found away.
 */
export function installRuntime(log: Logger, onAway: ReportAway): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta = {} }) => {
      const { target, taskQueue, workflowType, activityType, workflowId, attempt, error } = meta as Record<
        string,
        unknown
      >;
      // The task queue of a process's own programs has none on purpose.
      if (message.startsWith('No workflows registered')) return;
      // How a run ended is logged with its event.
      if (workflowType === 'flowRun' && message === 'Workflow failed') return;
      const members = { taskQueue, activityType, workflowId, attempt, error };
      if (target === REPEATED_CALLS) {
        log.debug(members, message);
        onAway(error);
      } else if (level === 'ERROR') log.error(members, message);
      else log.warn(members, message);
    }),
    // The native core would write to the console in a form of its own.
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
    // Signals are handled with the rest of the process.
    shutdownSignals: [],
  });
}
