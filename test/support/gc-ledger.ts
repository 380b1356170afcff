import type { Bearer, Json } from './client.ts';
import type { TestApp } from './app.ts';

/** Members by type. */
export type Components = Record<string, string | string[]>;

/** What a converter from XML makes of a list: a lone element stands without its array. */
export const packageOf = (components: Components) => ({
  Package: {
    types: Object.entries(components).map(([name, members]) => ({ name, members })),
    version: '66.0',
  },
});

export interface Ledger {
  projectId: string;
  repositoryIdentifier: string;
  /** Publishes the manifest of a package as a new document, or a new version of it. */
  publish: (
    packageName: string,
    payload: Components,
    options?: { branch?: string; destroys?: Components },
  ) => Promise<void>;
  publishValue: (packageName: string, value: unknown, branch?: string) => Promise<void>;
  unpublish: (packageName: string, branch?: string) => Promise<void>;
  events: (events: readonly Json[], options?: { status?: number; branch?: string; as?: Bearer }) => Promise<Json>;
  list: (query?: Record<string, string>, status?: number) => Promise<Json>;
  /** Statuses of the entries by `package type name`. */
  statuses: (query?: Record<string, string>) => Promise<Record<string, string>>;
  decide: (decision: 'dismiss' | 'reopen', component: Json, status?: number, as?: Bearer) => Promise<Json>;
  check: (environment: string, results: readonly Json[], status?: number) => Promise<Json>;
  environment: (name: string, more?: object) => Promise<{ id: string; version: number }>;
}

/** A dropped component of package `core`, unless another one is named. */
export const dropped = (fullName: string, more: object = {}) => ({
  packageName: 'core',
  componentType: 'ApexClass',
  fullName,
  ...more,
});
export const detected = (fullName: string, more: object = {}) => ({ type: 'detected', ...dropped(fullName, more) });

let made = 0;

/** A project with the calls of its ledger. */
export async function ledgerOf(app: TestApp, identifier = `acme/ledger-${++made}`): Promise<Ledger> {
  const owner = app.as(app.owner);
  const { id: projectId } = await owner.post(201, '/api/projects', { identifier, platform: 'host-a' });
  const place = (branch: string) => ({ repositoryIdentifier: identifier, branch });
  const documentPath = (packageName: string, branch: string) =>
    `/api/doc-store/collections/${encodeURIComponent(`manifests/${identifier}:${branch}`)}/docs/${encodeURIComponent(packageName)}`;
  const list: Ledger['list'] = (query = {}, status = 200) =>
    app
      .as(app.member)
      .get(status, `/api/gc-ledger?${new URLSearchParams({ repositoryIdentifier: identifier, ...query })}`);
  const publishValue: Ledger['publishValue'] = async (packageName, value, branch = 'main') => {
    const path = `${documentPath(packageName, branch)}?store=packages`;
    const found = await owner.send('GET', path, {});
    const isNew = found.status === 404;
    await owner.post(isNew ? 201 : 200, path, { value, ...(!isNew && { version: found.body.version }) });
  };
  return {
    projectId,
    repositoryIdentifier: identifier,
    publishValue,
    publish: (packageName, payload, { branch = 'main', destroys } = {}) =>
      publishValue(
        packageName,
        { payload: packageOf(payload), ...(destroys && { destructiveChanges: packageOf(destroys) }) },
        branch,
      ),
    unpublish: async (packageName, branch = 'main') => {
      await owner.delete(204, `${documentPath(packageName, branch)}?store=packages`);
    },
    events: (events, { status = 204, branch = 'main', as = app.application } = {}) =>
      app.as(as).post(status, '/api/gc-ledger/events', { ...place(branch), events }),
    list,
    async statuses(query = {}) {
      const { items } = await list({ limit: '500', ...query });
      return Object.fromEntries(
        items.map(({ packageName, componentType, fullName, status }: Json) => [
          `${packageName} ${componentType} ${fullName}`,
          status,
        ]),
      );
    },
    decide: (decision, component, status = 204, as = app.member) =>
      app.as(as).patch(status, `/api/gc-ledger/${decision}`, { ...place('main'), ...component }),
    check: (environment, results, status = 204) =>
      app.as(app.application).post(status, '/api/gc-ledger/org-check', { ...place('main'), environment, results }),
    environment: (name, more = {}) =>
      owner.post(201, '/api/environments', {
        repositoryIdentifier: identifier,
        name,
        category: 'test',
        orgUsername: `${name}@acme.example.com`,
        ...more,
      }),
  };
}
