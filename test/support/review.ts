import type { TestApp } from './app.ts';
import type { Bearer, Json } from './client.ts';

let made = 0;

/** A project with a pool, and the calls about both. */
export async function reviewStage(app: TestApp, settings: object = {}) {
  const repositoryIdentifier = `acme/review-${++made}`;
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', {
    identifier: repositoryIdentifier,
    platform: 'host-a',
  });
  const newPool = (tag: string, more: object = {}): Promise<Json> =>
    owner.post(201, '/api/review/pools', { repositoryIdentifier, tag, type: 'SCRATCH_ORG', ...more });
  const pool = await newPool('review', settings);
  const path = `/api/review/pools/${pool.id}`;
  return {
    repositoryIdentifier,
    projectId: projectId as string,
    poolId: pool.id as string,
    path,
    newPool,
    pool: (): Promise<Json> => owner.get(200, path),
    /** Registers orgs; answers their usernames. */
    async orgs(count: number, more: object = {}): Promise<string[]> {
      const usernames = Array.from({ length: count }, () => `org-${++made}@acme.example.com`);
      for (const username of usernames)
        await app.as(app.application).post(201, `${path}/instances`, { username, ...more });
      return usernames;
    },
    instances: async (query = ''): Promise<Json[]> => (await owner.get(200, `${path}/instances${query}`)).items,
    rule: (body: object, status = 201): Promise<Json> =>
      owner.post(status, '/api/review/pools/assign', { repositoryIdentifier, ...body }),
    testRules: (body: object, status = 200): Promise<Json> =>
      app.as(app.member).post(status, '/api/review/pools/assign/test', { repositoryIdentifier, ...body }),
    assign: (body: object, status = 201, caller: Bearer = app.application): Promise<Json> =>
      app.as(caller).post(status, '/api/review/assignments', {
        repositoryIdentifier,
        assignmentType: 'pr',
        assignmentId: `${++made}`,
        poolTag: 'review',
        ...body,
      }),
  };
}
