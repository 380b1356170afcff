import { newId, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError, type SimulatedRequest } from './replies.ts';
import { runSoql, SoqlError, type SoqlRow, type SoqlTable } from './soql.ts';

const DATA = /^\/services\/data\/v(\d+\.\d)(\/.*)?$/;

/** Whether a call counts against the org's calls of the day. */
export const isCounted = (path: string): boolean => DATA.test(path) || path.startsWith('/services/Soap/');

/** The REST interface of an org; undefined for other paths. @param orgs all orgs, by which codes for sandboxes are made. */
export function rest(org: SimulatedOrg, orgs: Iterable<SimulatedOrg>, request: SimulatedRequest): Reply | undefined {
  const { path, method, query, body, bearer } = request;
  if (/^\/services\/data\/?$/.test(path))
    return json(
      200,
      org.versions.map((version) => ({ label: `Release ${version}`, url: `/services/data/v${version}`, version })),
    );
  const [, version = '', resource = ''] = DATA.exec(path) ?? [];
  if (version === '') return undefined;
  if (!org.versions.includes(version)) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
  if (!org.sessions.has(bearer) || !org.isUserActive)
    return restError(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
  if (resource === '/limits') return json(200, limitsOf(org));
  const [, tooling, locator] = /^(\/tooling)?\/query(?:\/([\w-]+))?\/?$/.exec(resource) ?? [];
  if (/^(\/tooling)?\/query/.test(resource)) {
    const isTooling = tooling !== undefined;
    return locator === undefined
      ? runQuery(org, version, isTooling, query.get('q') ?? '')
      : nextPage(org, version, isTooling, locator);
  }
  const [, userId] = /^\/sobjects\/User\/(\w+)$/.exec(resource) ?? [];
  if (userId !== undefined)
    return userId.slice(0, 15) === org.userId.slice(0, 15)
      ? json(200, { attributes: { type: 'User' }, Id: org.userId, Username: org.username })
      : restError(404, 'NOT_FOUND', 'The requested resource does not exist');
  if (resource === '/composite/sobjects') return org.people.collections(method, query.get('ids'), body);
  if (resource === '/tooling/sandboxAuth' && method === 'POST') return org.copies.auth(orgs, body);
  return (
    org.copies.request(method, resource, body, version) ??
    org.deployments.rest(resource, request) ??
    org.packages.reply(request, resource) ??
    org.apexTests.rest(method, resource, body) ??
    org.scratch.request(method, resource, body) ??
    restError(404, 'NOT_FOUND', 'The requested resource does not exist')
  );
}

const limitsOf = (org: SimulatedOrg) =>
  Object.fromEntries(
    Object.entries(org.limits).map(([name, { max, used }]) => [
      name,
      { Max: max, Remaining: max - used, ...(name === 'DailyApiRequests' && { 'Some App': { Max: 0, Remaining: 0 } }) },
    ]),
  );

function runQuery(org: SimulatedOrg, version: string, isTooling: boolean, soql: string): Reply {
  try {
    const { object, rows, totalSize } = runSoql(soql, tablesOf(org, isTooling, soql));
    if (rows === null) return json(200, { totalSize, done: true, records: [] });
    const prefix = `/services/data/v${version}${isTooling ? '/tooling' : ''}/sobjects/${object}/`;
    const records = rows.map((row) => ({
      attributes: { type: object, url: prefix + ((row.Id ?? '') as string) },
      ...row,
    }));
    const key = newId('01g');
    org.queries.set(key, { isTooling, rows: records });
    return nextPage(org, version, isTooling, `${key}-0`);
  } catch (error) {
    if (error instanceof SoqlError) return restError(400, error.errorCode, error.message);
    throw error;
  }
}

function nextPage(org: SimulatedOrg, version: string, isTooling: boolean, locator: string): Reply {
  const [key = '', start = ''] = locator.split('-');
  const found = org.queries.get(key);
  if (!found || found.isTooling !== isTooling) return restError(404, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  const end = Number(start) + org.pageSize;
  const isDone = end >= found.rows.length;
  if (isDone) org.queries.delete(key);
  return json(200, {
    totalSize: found.rows.length,
    done: isDone,
    records: found.rows.slice(Number(start), end),
    ...(!isDone && { nextRecordsUrl: `/services/data/v${version}${isTooling ? '/tooling' : ''}/query/${key}-${end}` }),
  });
}

/** As the platform writes times. */
const time = (date: Date): string => date.toISOString().replace('Z', '+0000');

function tablesOf(org: SimulatedOrg, isTooling: boolean, soql: string): Record<string, SoqlTable> {
  const table = (rows: () => SoqlRow[], ...fields: string[]): SoqlTable => ({ rows, fields });
  if (isTooling)
    return {
      ...org.copies.tables({ isTooling }),
      ...org.deployments.tables(),
      ...org.packages.tables(soql),
      ...org.apexTests.tables(),
    };
  return {
    Organization: table(
      () => [
        {
          Id: org.orgId,
          Name: `${org.name} (simulated)`,
          OrganizationType: org.edition,
          IsSandbox: org.kind !== 'production',
          InstanceName: 'SIM1',
          TrialExpirationDate: org.expiresAt && time(org.expiresAt),
          NamespacePrefix: org.namespacePrefix,
        },
      ],
      ...ORGANIZATION_FIELDS,
    ),
    ...org.people.tables(),
    ...org.apexTests.tables(),
    ...org.copies.tables({ isTooling }),
    ...org.scratch.tables(),
    ...Object.fromEntries(org.tables),
  };
}

const ORGANIZATION_FIELDS = 'Id Name OrganizationType IsSandbox InstanceName TrialExpirationDate NamespacePrefix'.split(
  ' ',
);
