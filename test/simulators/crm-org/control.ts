import { type ControlRequest, type ControlServer, controlServer } from '../control-server.ts';
import type { CrmSimulator } from './simulator.ts';

/** What the control address takes, for its own list of actions. */
export const ACTIONS = [
  'GET /                                    the orgs, with their auth URLs',
  'POST /latency {"ms": 100}                time before each answer',
  'POST /orgs/{name}/faults {"kind": "hang", "times": 1, "path": "/limits"}',
  '    kinds: hang drip drop lost endless html html-503 unauthorized forbidden gone used-up redirect error doctype zip (with "zip": "parent") reply (with "status", "body")',
  'DELETE /orgs/{name}/faults               the org works again',
  'POST /orgs/{name}/limits {"DailyApiRequests": {"used": 95000}}',
  'PUT /orgs/{name}/metadata/classes/A.cls  the body is the file; "x-modified-by" names who',
  'DELETE /orgs/{name}/metadata/classes/A.cls',
  'POST /orgs/{name}/sandboxes {"name": "qa", "percent": 43}  how far a copying is; {"name": "qa", "end": "finished"} or "failed"',
  'POST /orgs/{name}/end-sessions | revoke-approvals | refresh',
] as const;

/** Changes simulated orgs from outside, for `npm run crm-simulator` and demonstrations. */
export const crmControl = (simulator: CrmSimulator, port = 0): Promise<ControlServer> =>
  controlServer((request) => act(simulator, request), port);

function act(simulator: CrmSimulator, { method, url, headers, body, fields }: ControlRequest): unknown {
  if (method === 'GET' && url === '/')
    return { isSimulator: true, orgs: simulator.orgs().map(shownOrg), actions: ACTIONS };
  if (method === 'POST' && url === '/latency') {
    simulator.latencyMs = Number(fields().ms);
    return { latencyMs: simulator.latencyMs };
  }
  const [, name, action = ''] = /^\/orgs\/([\w-]+)\/(.+)$/.exec(url) ?? [];
  const unknown = () => new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  if (name === undefined) throw unknown();
  const org = simulator.org(name);
  const [, path] = /^metadata\/(.+)$/.exec(action) ?? [];
  if (path !== undefined && method === 'PUT')
    org.metadata.write(decodeURIComponent(path), body, {
      modifiedBy: String(headers['x-modified-by'] ?? 'Ada Admin'),
    });
  else if (path !== undefined && method === 'DELETE') org.metadata.remove(decodeURIComponent(path));
  else if (action === 'faults' && method === 'DELETE') org.heal();
  else if (action === 'faults' && method === 'POST') {
    const { times = 1, path: of = '', ...fault } = fields();
    org.fail(fault as never, { times: Number(times), path: new RegExp(String(of)) });
  } else if (action === 'limits' && method === 'POST') {
    for (const [limit, change] of Object.entries(fields())) {
      org.limits[limit] = { max: 0, used: 0, ...org.limits[limit], ...(change as object) };
    }
  } else if (action === 'sandboxes' && method === 'POST') {
    const { name: sandbox, percent, end } = fields();
    const copy = org.copies.copy(String(sandbox));
    if (end === 'finished') void org.copies.finish(copy.name);
    else if (end === 'failed') org.copies.fail(copy.name);
    else org.copies.progress(copy.name, Number(percent));
  } else if (action === 'end-sessions' && method === 'POST') org.endSessions();
  else if (action === 'revoke-approvals' && method === 'POST') org.revokeApprovals();
  else if (action === 'refresh' && method === 'POST') org.refresh();
  else throw unknown();
  return shownOrg(org);
}

const shownOrg = ({ name, kind, username, url, authUrl, parent }: ReturnType<CrmSimulator['org']>) => ({
  name,
  kind,
  username,
  url,
  authUrl,
  parent: parent?.username ?? null,
});
