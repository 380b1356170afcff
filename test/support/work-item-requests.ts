import type { Json } from './client.ts';
import type { TestApp } from './app.ts';
import type { NewRow } from '../../domain/kernel/data/statement.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';

export const CALLBACK = '/api/work-items/requests/callback';
export const REQUESTS = '/api/work-items/requests';

/** A project of its own, and the requests that are made in its work items. */
export async function requestsOf(app: TestApp, project: { identifier?: string; [member: string]: unknown } = {}) {
  const owner = app.as(app.owner);
  const { identifier: projectIdentifier = `acme/requests-${newId()}` } = project;
  await owner.post(201, '/api/projects', { identifier: projectIdentifier, platform: 'host-a', ...project });
  const callback = (
    event: string,
    more: Record<string, unknown> = {},
    { status = 204, as = app.application }: { status?: number; as?: { token?: string } } = {},
  ) => app.as(as).post(status, CALLBACK, { event, platform: 'host-a', workItemKey: '12', projectIdentifier, ...more });
  const list = (query: Record<string, string> = {}): Promise<Json> =>
    owner.get(200, `${REQUESTS}?${new URLSearchParams({ projectIdentifier, ...query })}`);
  const only = async (): Promise<Json> => {
    const { items } = await list();
    expect(items).toHaveLength(1);
    return owner.get(200, `${REQUESTS}/${items[0].id}`);
  };
  return { projectIdentifier, callback, list, only };
}

export type NewRequestRow = Partial<NewRow<'work_item_request'>>;

/** A request as a row, in a project of its own. */
export async function addedRequest(app: TestApp, given: NewRequestRow) {
  const requests = await requestsOf(app);
  const [project] = await app.sql<{ id: string }>('select id from project where identifier = ?', [
    requests.projectIdentifier,
  ]);
  const id = newId();
  await app.db
    .insertInto('work_item_request')
    .values({
      id,
      tenantId: app.tenant.id,
      projectId: project?.id ?? '',
      platform: 'host-a',
      taskType: 'install-packages',
      repositoryIdentifier: requests.projectIdentifier,
      createdBy: 'dana@example.com',
      status: 'open',
      ...given,
    })
    .execute();
  return { id, ...requests };
}
