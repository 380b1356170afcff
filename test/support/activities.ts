import type { Deps } from '../../activities/deps.ts';
import { createLockTurns } from '../../domain/environment-locks/lock-turns.ts';
import { createFencedReads } from '../../domain/data/fenced-reads.ts';
import { connectOrm } from '../../domain/data/orm.ts';
import { connectPool } from '../../domain/data/pool.ts';
import { unitOfWork } from '../../domain/unit-of-work.ts';
import { lockQuestions } from '../../workflows/environment-locks/environment-lock.contract.ts';
import { createWakes } from '../../workflows/wakes.contract.ts';
import type { TestApp } from './app.ts';

/** What activities that work on the database and on other workflows reach, for a test that calls them itself. */
export function activityDeps(app: TestApp): { deps: Deps; close: () => Promise<void> } {
  const access = { databaseUrl: app.databaseUrl, role: 'quayside_app', poolSize: 4 };
  const onError = () => undefined;
  const orm = connectOrm(access);
  const reads = createFencedReads(access, onError);
  const systemPool = connectPool({ ...access, role: 'quayside_app_lanes' }, onError);
  const wakes = createWakes(app.launch);
  const deps = {
    orm,
    reads,
    systemPool,
    launch: app.launch,
    lockTurns: createLockTurns(lockQuestions(app.launch)),
    actingAs: (actor, context = {}) => unitOfWork(orm, { ...context, actor, wakes }),
    now: () => new Date(),
  } satisfies Partial<Deps>;
  return {
    deps: deps as unknown as Deps,
    async close() {
      await Promise.all([orm.close(true), reads.close(), systemPool.end()]);
    },
  };
}
