import { setTimeout as sleep } from 'node:timers/promises';
import { connectOrm } from '../domain/orm.ts';
import { systemActor } from '../domain/kernel/shared/actor.ts';
import { newId } from '../domain/kernel/shared/ids.ts';
import { unitOfWork } from '../domain/unit-of-work.ts';
import { type Figures, quantile } from './figures.ts';
import type { Service } from './service.ts';

const PER_SECOND = 50;
const CHANGES = 300;
const WRITERS = 8;

/** Changes of one row with and without an entry, in turn, at fifty a second; and those of one tenant beside a busy other. */
export async function measureWrites({ databaseUrl, database, tenantId }: Service, figures: Figures): Promise<void> {
  const orm = connectOrm({ databaseUrl, role: 'quayside_app' });
  const otherId = newId();
  await database.query('insert into tenant (id, slug) values ($1, $2)', [otherId, `t${otherId.slice(-12)}`]);
  const newTeam = async (tenant: string) => {
    const id = newId();
    await database.query('insert into team (id, tenant_id, slug) values ($1, $2, $3)', [id, tenant, id]);
    return id;
  };
  const change = async (tenant: string, teamId: string, isAudited: boolean): Promise<number> => {
    const begunAt = performance.now();
    await unitOfWork(orm, {
      actor: systemActor({ tenantId: tenant, tenantSlug: 'bench' }, 'bench'),
      requestId: 'bench',
    })(async (tx) => {
      await tx.db.updateTable('team').set({ updatedAt: new Date() }).where('id', '=', teamId).execute();
      if (isAudited) {
        tx.audit({
          source: 'user',
          action: 'team.updated',
          entityType: 'tenant',
          entityId: teamId,
          summary: 'A team changed',
          before: { a: 1 },
          after: { a: 2 },
        });
      }
    });
    return performance.now() - begunAt;
  };
  const [mine, others] = [await newTeam(tenantId), await newTeam(otherId)];
  const timed = async (tenant: string, teamId: string) => {
    const took: Record<'with' | 'without', number[]> = { with: [], without: [] };
    const startedAt = performance.now();
    const open: Promise<unknown>[] = [];
    for (let index = 0; index < CHANGES * 2; index++) {
      const wait = startedAt + (index * 1_000) / PER_SECOND - performance.now();
      if (wait > 1) await sleep(wait);
      const kind = index % 2 === 0 ? 'with' : 'without';
      open.push(change(tenant, teamId, kind === 'with').then((ms) => took[kind].push(ms)));
    }
    await Promise.all(open);
    return took;
  };
  const alone = await timed(tenantId, mine);
  figures.note('50 changes/s: p50 without an entry', quantile(alone.without, 0.5));
  figures.note(
    '50 changes/s: an entry adds to p50',
    quantile(alone.with, 0.5) - quantile(alone.without, 0.5),
    'ms',
    '<= 1.5',
  );

  const over = new AbortController();
  const busyTeams = await Promise.all(Array.from({ length: WRITERS / 2 }, () => newTeam(otherId)));
  const busy = busyTeams.map(async (teamId) => {
    while (!over.signal.aborted) await change(otherId, teamId, true);
  });
  const beside = await timed(tenantId, mine);
  over.abort();
  await Promise.all(busy);
  figures.note(
    'beside a tenant that writes without a pause: an entry adds',
    quantile(beside.with, 0.5) - quantile(beside.without, 0.5),
  );
  await change(otherId, others, true);
  await orm.close(true);
}
