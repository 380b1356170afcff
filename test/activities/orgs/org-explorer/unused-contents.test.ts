import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unusedContentsSweep } from '../../../../activities/orgs/org-explorer/org-explorer.sweep.ts';
import { runSweep } from '../../../../activities/kernel/system/run-sweep.ts';
import {
  ContentNotStored,
  contentKey,
  contentOf,
  storeContents,
} from '../../../../domain/orgs/org-explorer/contents.ts';
import { beginRemoval, endRemoval } from '../../../../domain/orgs/org-explorer/contents.queries.ts';
import { systemActor } from '../../../../domain/kernel/shared/actor.ts';
import type { WorkerBackend } from '../../../../activities/backend.ts';
import { activityDeps } from '../../../support/activities.ts';
import type { CrmSimulator } from '../../../simulators/crm-org/simulator.ts';
import type { TestApp } from '../../../support/app.ts';
import { classFile, classOf, exploredOrg, reported, sha, withExplorer } from '../../../support/explorer.ts';

let crm: CrmSimulator;
let app: TestApp;
let worker: WorkerBackend;
afterAll(() => worker.close());
withExplorer((started) => {
  ({ crm, app } = started);
  worker = activityDeps(app);
});

const keep = (text: string, waitMs?: number) =>
  storeContents(
    {
      tx: worker.deps.actingAs(systemActor(app.tenantKey, 'org-explorer')),
      objects: worker.deps.objects,
      tenantId: app.tenant.id,
    },
    [contentOf(Buffer.from(text))],
    waitMs === undefined ? {} : { waitMs },
  );
const keyOf = (text: string) => ({ tenantId: app.tenant.id, sha256: sha(text) });
const age = async (...texts: string[]) => {
  for (const text of texts)
    await app.sql(`update org_content set used_at = now() - interval '25 hours' where sha256 = ?`, [sha(text)]);
};
const isStored = (text: string) => existsSync(join(app.dataDir, 'objects', contentKey(app.tenant.id, sha(text))));
const rows = (text: string) =>
  app.sql<{ isRecent: boolean }>(
    `select used_at > now() - interval '1 hour' as "isRecent" from org_content where sha256 = ?`,
    [sha(text)],
  );

test('contents that no component has go after a day; those in use are looked at again a day later', async () => {
  const org = await exploredOrg(app, crm);
  await reported(app.as(app.application), org, classOf('A', classFile('A', 'in use')));
  await keep('unused');
  await keep('of today');
  await age('in use', 'unused');
  expect(await runSweep(worker.deps, unusedContentsSweep)).toMatchObject({ handled: 1, failed: 0 });
  expect(['in use', 'unused', 'of today'].map(isStored)).toEqual([true, false, true]);
  expect(await rows('unused')).toEqual([]);
  expect(await rows('in use')).toEqual([{ isRecent: true }]);
  await app.sql('delete from org_component');
  expect(await runSweep(worker.deps, unusedContentsSweep)).toMatchObject({ handled: 0 });
  await age('in use');
  expect(await runSweep(worker.deps, unusedContentsSweep)).toMatchObject({ handled: 1 });
  expect(isStored('in use')).toBe(false);
});

test('a content that is wanted before its removal begins stays', async () => {
  await keep('wanted');
  await age('wanted');
  const [listed] = (await unusedContentsSweep.due(worker.deps, 10)) as { sha256: string }[];
  expect(listed?.sha256).toBe(sha('wanted'));
  await keep('wanted');
  expect(await unusedContentsSweep.handle(worker.deps, listed)).toBe(0);
  expect(isStored('wanted')).toBe(true);
});

test('a content that is wanted while it is removed is stored anew; one whose removal does not end is refused in time', async () => {
  await keep('going');
  await age('going');
  const removingSince = await beginRemoval(worker.deps.system, keyOf('going'));
  await expect(keep('going', 300)).rejects.toThrow(ContentNotStored);
  const stored = keep('going');
  await worker.deps.objects.remove(contentKey(app.tenant.id, sha('going')));
  await endRemoval(worker.deps.system, keyOf('going'), removingSince ?? '');
  await stored;
  expect(isStored('going')).toBe(true);

  // Its process died; when it goes on after all, the removal has become somebody else's.
  await age('going');
  const lost = (await beginRemoval(worker.deps.system, keyOf('going'))) ?? '';
  await app.sql(`update org_content set removing_since = removing_since - interval '6 minutes'`);
  await keep('going');
  await endRemoval(worker.deps.system, keyOf('going'), lost);
  expect(await rows('going')).toEqual([{ isRecent: true }]);
});
