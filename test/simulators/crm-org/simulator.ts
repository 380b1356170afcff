import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { carryOut } from './faults.ts';
import { oauth } from './oauth.ts';
import { newId, type OrgOptions, SimulatedOrg } from './org.ts';
import type { Reply } from './replies.ts';
import { isCounted, rest } from './rest.ts';
import { soap } from './soap.ts';

export interface CrmRequest {
  /** Name of the org, or `elsewhere`. */
  org: string;
  method: string;
  path: string;
  /** Operation of the Metadata interface; undefined: another request. */
  operation: string | undefined;
  /** A credential came along. */
  hasCredential: boolean;
}

export interface CrmSimulator {
  /** The org of that name; throws when there is none. */
  org: (name: string) => SimulatedOrg;
  orgs: () => SimulatedOrg[];
  addOrg: (options: OrgOptions) => Promise<SimulatedOrg>;
  /** All requests so far. */
  requests: CrmRequest[];
  /** Every token, code, auth URL and front door that was given: none of them may turn up in logs. */
  secrets: Set<string>;
  /** Time before each answer; an org may have its own. */
  latencyMs: number;
  close: () => Promise<void>;
}

/**
 * The orgs that the simulator has at first: a production with a dev hub, two sandboxes and one that is being copied, and
 * scratch orgs with, without and with a dead auth URL; and a second production with a sandbox of the same name as one of
 * the first.
 */
export const USUAL_ORGS: readonly OrgOptions[] = [
  { name: 'acme', kind: 'production', isDevHub: true },
  { name: 'globex', kind: 'production', edition: 'Unlimited Edition' },
  { name: 'acme-dev', kind: 'sandbox', parent: 'acme', sandboxName: 'dev' },
  { name: 'acme-uat', kind: 'sandbox', parent: 'acme', sandboxName: 'uat' },
  {
    name: 'acme-copying',
    kind: 'sandbox',
    parent: 'acme',
    sandboxName: 'copying',
    status: 'Processing',
    copyProgress: 43,
  },
  { name: 'globex-uat', kind: 'sandbox', parent: 'globex', sandboxName: 'uat' },
  { name: 'scratch-1', kind: 'scratch', parent: 'acme', authUrl: 'present' },
  { name: 'scratch-2', kind: 'scratch', parent: 'acme', authUrl: 'missing' },
  { name: 'scratch-3', kind: 'scratch', parent: 'acme', authUrl: 'dead' },
];

/** Simulated orgs of the CRM platform on loopback, each at an address of its own. */
export async function crmSimulator(orgs: readonly OrgOptions[] = USUAL_ORGS): Promise<CrmSimulator> {
  const all = new Map<string, SimulatedOrg>();
  const servers: Server[] = [];
  const requests: CrmRequest[] = [];
  const secrets = new Set<string>();

  const listen = async (
    handle: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>,
  ): Promise<string> => {
    const server = createServer((incoming, response) => {
      handle(incoming, response).catch((error: unknown) => response.destroy(error as Error));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const note = (org: string, { method = '', url = '', headers }: IncomingMessage, body: string): CrmRequest => {
    const operation = /<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)/.exec(body)?.[1];
    const hasCredential = headers.authorization !== undefined || /sessionId>|refresh_token=/.test(body);
    const request = { org, method, path: url, operation, hasCredential };
    requests.push(request);
    return request;
  };

  // Where redirects lead: no credential may ever arrive here.
  const elsewhere = await listen(async (incoming, response) => {
    note('elsewhere', incoming, String(await bodyOf(incoming)));
    response.end('{}');
  });

  const simulator: CrmSimulator = {
    org(name) {
      const found = all.get(name);
      if (!found) throw new Error(`there is no simulated org ${name}`);
      return found;
    },
    orgs: () => [...all.values()],
    async addOrg(options) {
      const parent = options.parent === undefined ? undefined : simulator.org(options.parent);
      const url = await listen(async (incoming, response) => {
        const bytes = await bodyOf(incoming);
        const contentType = incoming.headers['content-type'] ?? '';
        const body = contentType.startsWith('multipart/') ? '' : bytes.toString('utf8');
        const { operation } = note(org.name, incoming, body);
        const latencyMs = org.latencyMs ?? simulator.latencyMs;
        if (latencyMs > 0) await sleep(latencyMs);
        const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', org.url);
        await org.untilReleased(path);
        if (await org.breaksOff(path)) {
          response.socket?.destroy();
          return;
        }
        const isSoap = path.startsWith('/services/Soap/');
        const fault = org.takeFault(path, operation);
        if (fault && carryOut(fault, response, { isSoap, elsewhere })) return;
        const [, bearer = ''] = /^(?:Bearer|OAuth) (.+)$/.exec(incoming.headers.authorization ?? '') ?? [];
        const request = { method: incoming.method ?? 'GET', path, query, body, bytes, contentType, bearer, fault };
        const usage = isCounted(path) ? countCall(org) : undefined;
        const reply =
          usage?.isOver && !isSoap
            ? USED_UP
            : ((await oauth(org, request)) ?? rest(org, all.values(), request) ?? soap(org, request) ?? NOT_FOUND);
        if (fault?.kind === 'lost' || (await org.breaksOff(path))) {
          response.socket?.destroy();
          return;
        }
        response.writeHead(reply.status, {
          'content-type': reply.contentType,
          ...(usage && { 'sforce-limit-info': `api-usage=${usage.used}/${usage.max}` }),
        });
        response.end(reply.body);
      });
      const org = new SimulatedOrg(options, url, parent, secrets);
      all.set(org.name, org);
      if (parent && options.isListed !== false) enlist(org, parent, options);
      org.copies.makeOrg = async (sandboxName) => {
        const name = `${org.name}-${sandboxName.toLowerCase()}`;
        const known = all.get(name);
        if (!known) return simulator.addOrg({ name, kind: 'sandbox', parent: org.name, sandboxName, isListed: false });
        known.becomeNew();
        return known;
      };
      org.scratch.makeOrg = async (name, durationDays) => {
        const made = await simulator.addOrg({ name, kind: 'scratch', parent: org.name, isListed: false });
        made.expiresAt = new Date(Date.now() + durationDays * 86_400_000);
        return made;
      };
      return org;
    },
    requests,
    secrets,
    latencyMs: 0,
    async close() {
      await Promise.all(
        servers.map((server) => {
          server.closeAllConnections();
          return new Promise((resolve) => void server.close(resolve));
        }),
      );
    },
  };
  for (const options of orgs) await simulator.addOrg(options);
  return simulator;
}

const NOT_FOUND: Reply = {
  status: 404,
  contentType: 'text/html',
  body: '<html><body>URL No Longer Exists</body></html>',
};
const USED_UP: Reply = {
  status: 403,
  contentType: 'application/json',
  body: JSON.stringify([{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }]),
};

function countCall({ limits }: SimulatedOrg) {
  const daily = (limits.DailyApiRequests ??= { max: 15_000, used: 0 });
  daily.used++;
  return { ...daily, isOver: daily.used > daily.max };
}

/** The row of a sandbox in its production, or of a scratch org in its dev hub. */
function enlist(
  org: SimulatedOrg,
  parent: SimulatedOrg,
  { sandboxName, status = 'Completed', copyProgress, authUrl = 'present' }: OrgOptions,
): void {
  const createdAt = new Date(Date.now() - 86_400_000);
  const orgId = org.orgId.slice(0, 15);
  if (org.kind === 'sandbox') {
    const isReady = status === 'Completed';
    parent.sandboxes.push({
      id: newId('0GR'),
      infoId: newId('0GQ'),
      name: sandboxName ?? org.name,
      status,
      copyProgress: copyProgress ?? (isReady ? 100 : 0),
      orgId: isReady ? orgId : null,
      createdAt,
      endedAt: isReady ? createdAt : null,
      isOwn: true,
    });
    return;
  }
  const stored = authUrl === 'missing' ? null : authUrl === 'dead' ? org.authUrlOf('5AepRevokedLongAgo') : org.authUrl;
  parent.scratchOrgs.push({
    id: newId('2SR'),
    orgId,
    username: org.username,
    loginUrl: org.url,
    status: 'Active',
    expiresAt: org.expiresAt ?? createdAt,
    createdAt,
    authUrl: stored,
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
