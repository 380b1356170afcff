import type { TestApp } from './app.ts';
import type { Json } from './client.ts';
import type { TestRepository } from './repository.ts';
import { eventually } from './worker.ts';

/** A project whose repository is on this machine and fetched. */
export interface MirroredProject {
  id: string;
  repositoryIdentifier: string;
  /** Its mirror after the first fetch. */
  mirror: Json;
  ask: () => Promise<Json>;
  /** Asks for a fetch and waits until it is done, or has failed; answers the mirror. */
  fetch: (options?: { isFailing?: boolean }) => Promise<Json>;
  patch: (body: object) => Promise<Json>;
}

/** Makes the last fetch longer ago than unknown commits are held back for. */
export const forgetFetch = (app: TestApp, { id }: Pick<MirroredProject, 'id'>) =>
  app.sql(
    `update git_mirror set requested_at = now() - interval '1 minute', attempted_at = now() - interval '30 seconds',
    completed_at = now() - interval '30 seconds' where project_id = ?`,
    [id],
  );

let made = 0;

/** Registers a repository as a project and waits until it is fetched; a worker of `git-v1` must run. */
export async function mirrored(
  app: TestApp,
  { path }: Pick<TestRepository, 'path'>,
  more: object = {},
): Promise<MirroredProject> {
  const repositoryIdentifier = `acme/mirrored-${++made}`;
  const owner = app.as(app.owner);
  const { id } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
    remoteUrl: path,
    ...more,
  });
  const address = `/api/projects/${encodeURIComponent(repositoryIdentifier)}`;
  const state = () => owner.get(200, `${address}/mirror`);
  const ask = () => owner.post(202, `${address}/mirror/fetch`);
  const mirror = await eventually(state, ({ fetchedAt }) => fetchedAt !== null);
  return {
    id,
    repositoryIdentifier,
    mirror,
    ask,
    async fetch({ isFailing = false } = {}) {
      const { requestedAt, failures } = await ask();
      return eventually(state, (now) =>
        isFailing ? now.failures > failures : now.fetchedAt >= requestedAt && now.error === null,
      );
    },
    patch: (body) => owner.patch(200, address, body),
  };
}
