import type { Host, HookRequest } from '../simulators/host-hooks.ts';
import type { Caller, TestApp } from './app.ts';
import type { Json } from './client.ts';

const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' } as const;
let made = 0;

/** A project with a secret for its hooks. */
export interface HookedProject {
  host: Host;
  repository: string;
  secret: string;
  url: string;
}

export async function hooked(
  app: TestApp,
  host: Host,
  { owner = app.owner, repository = `${REPOSITORY[host]}-${++made}` }: { owner?: Caller; repository?: string } = {},
): Promise<HookedProject> {
  await app.as(owner).post(201, '/api/projects', { identifier: repository, platform: host });
  const { secret, url } = await app.as(owner).post(201, `/api/projects/${encodeURIComponent(repository)}/hook-secret`);
  return { host, repository, secret, url };
}

export const sendHook = async (app: TestApp, status: number, { path, headers, rawBody }: HookRequest): Promise<Json> =>
  (await app.as().request(status, 'POST', path, { headers, rawBody })).body;
