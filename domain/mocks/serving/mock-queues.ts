import { LRUCache } from 'lru-cache';
import type { Database } from '../../kernel/data/tables.ts';
import { systemActor, type Actor } from '../../kernel/shared/actor.ts';
import type { UnitOfWork } from '../../unit-of-work.ts';
import type { EvaluateInThread, MockPlace } from '../decide-batch.ts';
import { MockQueue, type OnCalls } from './mock-queue.ts';
import { announceUnmatched } from '../scenarios/active-scenarios.mutations.ts';
import { findMockWorkspace } from './replay.queries.ts';

export interface MockQueues {
  /** The queue of a workspace by the hash of its key; undefined where the key leads nowhere. */
  find: (keyHash: string) => Promise<MockQueue | undefined>;
  /** The key of a place is another one now. */
  forget: (place: MockPlace) => void;
  /** Announces a request without a step, at most once a minute; returns at once and never throws. */
  announceUnmatched: (place: MockPlace, scenarioId: string, call: Parameters<typeof announceUnmatched>[2]) => void;
}

interface Parts {
  /** Connections with the role of the application that do not wait for the disk. */
  database: Database;
  actingAs: (actor: Actor) => UnitOfWork;
  evaluateInThread: EvaluateInThread;
  onCalls: OnCalls;
  onError: (error: unknown) => void;
}

const QUEUES_MAX = 100;
const ANNOUNCED_EVERY_MS = 60_000;
const ANNOUNCED_KEPT = 1_000;

/** The workspaces that this process answers for, those that were used last. */
export function createMockQueues({ database, actingAs, evaluateInThread, onCalls, onError }: Parts): MockQueues {
  const queues = new Map<string, MockQueue>();
  const announcedAt = new LRUCache<string, number>({ max: ANNOUNCED_KEPT });
  return {
    async find(keyHash) {
      const known = queues.get(keyHash);
      if (known) return known;
      const [found] = await findMockWorkspace(database, { hash: keyHash });
      if (!found) return undefined;
      const queue = queues.get(keyHash) ?? new MockQueue(database, { ...found, keyHash }, evaluateInThread, onCalls);
      queues.set(keyHash, queue);
      if (queues.size > QUEUES_MAX) dropIdle(queues);
      return queue;
    },
    forget: ({ keyHash }) => void queues.delete(keyHash),
    announceUnmatched(place, scenarioId, call) {
      const now = performance.now();
      if (now - (announcedAt.get(scenarioId) ?? -Infinity) < ANNOUNCED_EVERY_MS) return;
      announcedAt.set(scenarioId, now);
      actingAs(systemActor(place, 'mocks'))((tx) => announceUnmatched(tx, scenarioId, call)).catch(onError);
    },
  };
}

/** The oldest queue that answers nothing at the moment. */
function dropIdle(queues: Map<string, MockQueue>): void {
  for (const [keyHash, queue] of queues) {
    if (!queue.isIdle) continue;
    queues.delete(keyHash);
    return;
  }
}
