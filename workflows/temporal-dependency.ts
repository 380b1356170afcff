import type { Client } from '@temporalio/client';
import type { Dependency } from '../domain/kernel/system/outages.ts';
import { EngineUnavailableError } from './launch.ts';
import { isEngineAway } from './temporal-errors.ts';

const DEADLINE_MS = 2_000;

/** The engine; what it has to execute is stored, and executed when it is back. */
export const temporalDependency = (client: Client, address: string): Dependency => ({
  name: 'temporal',
  title: 'Temporal',
  meanwhile: 'what is accepted is executed when it is back',
  isOptional: true,
  check: () =>
    client
      .withDeadline(Date.now() + DEADLINE_MS, () => client.workflowService.getSystemInfo({}))
      // The client's error says no more of its attempts than that there is no time left.
      .catch((error: unknown) => Promise.reject(isEngineAway(error) ? new Error(`no answer from ${address}`) : error)),
  mayExplain: (error) => error instanceof EngineUnavailableError || isEngineAway(error),
});
