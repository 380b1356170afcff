import { z } from 'zod';
import type {
  CrmAnswer,
  CrmFailure,
  CrmOrg,
  CrmRow,
  FrontDoor,
  OrgIdentity,
  PlatformLimit,
} from '../../../domain/orgs/crm/crm-platform.port.ts';
import { isOwnPath } from '../../../domain/identity/auth/own-path-rules.ts';
import { isIdOf, longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { failure, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { type CrmTimeouts, JSON_MAX_BYTES, timedOut } from './crm-http.ts';
import type { CrmSession, OpenSession } from './crm-session.ts';

const MAX_ROWS = 10_000;
/** The platform gives 200 to 2,000 rows a page, and may give fewer where rows are large. */
const PAGE_ROWS_MIN = 100;
const NEXT_PAGE = /^\/services\/data\/v\d{2,3}\.\d\/(?:tooling\/)?query\/[\w-]{1,200}$/;

const isRow = (value: unknown): value is CrmRow => typeof value === 'object' && value !== null && !Array.isArray(value);

const Page = z.object({
  totalSize: z.number(),
  done: z.boolean(),
  // Millions of empty rows fit into one answer: they are counted before anything is made of them.
  records: z.custom<CrmRow[]>(
    (value) => Array.isArray(value) && value.length <= MAX_ROWS && value.every((row) => isRow(row)),
  ),
  nextRecordsUrl: z.string().optional(),
});
const UserInfo = z.object({
  user_id: z.string().regex(/^\w{15,18}$/),
  organization_id: z.string().regex(/^\w{15,18}$/),
});
const User = z.object({ Username: z.string().min(1) });
const Organization = z.object({
  Id: z.string(),
  Name: z.string(),
  OrganizationType: z.string(),
  IsSandbox: z.boolean(),
  InstanceName: z.string().nullish(),
  TrialExpirationDate: z.string().nullish(),
  NamespacePrefix: z.string().nullish(),
});
const Doors = z.object({ frontdoor_uri: z.string() });
const Limit = z.object({ Max: z.number(), Remaining: z.number() });

type RestOfOrg = Pick<CrmOrg, 'identity' | 'isDevHub' | 'frontDoor' | 'limits' | 'query'>;

/** The REST interface of an org. */
export function createCrmOrg(session: CrmSession, timeouts: CrmTimeouts): RestOfOrg {
  const query = createQuery(session, timeouts);
  return {
    query,

    async identity() {
      const info = shaped(
        await session.withCredential((open) => oauthResource(session, open, '/services/oauth2/userinfo')),
        UserInfo,
      );
      if (!info.isOk) return info;
      const { user_id: userId, organization_id: orgId } = info.value;
      const [user, organizations] = await Promise.all([
        session.call({ path: `/sobjects/User/${userId}?fields=Username` }),
        query(`SELECT ${Object.keys(Organization.shape).join(', ')} FROM Organization`, { maxRows: 1 }),
      ]);
      const named = shaped(user, User);
      if (!named.isOk) return named;
      if (!organizations.isOk) return organizations;
      const organization = shaped({ isOk: true, value: organizations.value.rows[0] }, Organization);
      if (!organization.isOk) return organization;
      return {
        isOk: true,
        value: {
          username: named.value.Username,
          userId: longId(userId),
          orgId: longId(orgId),
          ...kindOf(organization.value),
        },
      };
    },

    async isDevHub() {
      const rows = await query('SELECT Id FROM ScratchOrgInfo LIMIT 1', { maxRows: 1 });
      if (rows.isOk) return { isOk: true, value: true };
      return rows.code === 'INVALID_TYPE' ? { isOk: true, value: false } : rows;
    },

    async frontDoor(path) {
      if (path !== undefined && !isOwnPath(path, '')) return INVALID_PATH;
      const answer = await session.withCredential((open) => openDoor(session, open, path));
      return !answer.isOk && answer.code === EXPIRED ? NO_WEB_ACCESS : answer;
    },

    async limits() {
      const answer = shaped(await session.call({ path: '/limits' }), z.record(z.string(), z.unknown()));
      if (!answer.isOk) return answer;
      const limits: PlatformLimit[] = [];
      for (const [name, value] of Object.entries(answer.value)) {
        const limit = Limit.safeParse(value).data;
        if (limit) limits.push({ name, max: limit.Max, remaining: limit.Remaining });
      }
      return limits.length === 0
        ? malformed('NO_LIMITS', 'The reply about limits has none.')
        : { isOk: true, value: limits };
    },
  };
}

const createQuery =
  (session: CrmSession, { callMs }: CrmTimeouts): CrmOrg['query'] =>
  async (soql, { isTooling = false, maxRows = MAX_ROWS } = {}) => {
    const first = `${isTooling ? '/tooling' : ''}/query?q=${encodeURIComponent(soql)}`;
    const rows: CrmRow[] = [];
    const budget = { bytes: JSON_MAX_BYTES };
    let page = shaped(await session.call({ path: first, budget }), Page);
    const deadline = performance.now() + callMs;
    for (let pagesLeft = Math.ceil(maxRows / PAGE_ROWS_MIN); ; pagesLeft--) {
      if (!page.isOk) return page;
      const { records, totalSize, done, nextRecordsUrl } = page.value;
      for (const { attributes: _, ...row } of records) rows.push(row);
      if (done || rows.length >= maxRows)
        return {
          isOk: true,
          value: { rows: rows.slice(0, maxRows), totalSize, isComplete: done && rows.length <= maxRows },
        };
      if (performance.now() > deadline) return timedOut(callMs);
      // Pages of few rows that are not the last one would be asked for without end.
      if (pagesLeft === 0 || records.length === 0 || !NEXT_PAGE.test(nextRecordsUrl ?? ''))
        return malformed('NEXT_PAGE', 'The reply to a query leads to no next page of its own.');
      page = shaped(await session.call({ path: nextRecordsUrl ?? '', isAbsolute: true, budget }), Page);
    }
  };

const kindOf = (organization: z.output<typeof Organization>): Omit<OrgIdentity, 'username' | 'userId' | 'orgId'> => {
  const { TrialExpirationDate: expiresAt, IsSandbox: isCopy, OrganizationType: edition } = organization;
  const kind = !isCopy ? 'production' : expiresAt ? 'scratch' : 'sandbox';
  return {
    orgName: organization.Name,
    kind,
    organizationType: { production: edition, scratch: 'Scratch', sandbox: 'Sandbox' }[kind],
    edition,
    instanceName: organization.InstanceName ?? null,
    namespacePrefix: organization.NamespacePrefix ?? null,
    expiresAt: isoTime(expiresAt),
  };
};

/** An id of a kind of record, in its case-safe form. @param prefix the three characters that say which kind. */
export const idOf = (prefix: string) =>
  z
    .string()
    .refine((text) => isIdOf(prefix, text))
    .transform(longId);

/** Times of the platform are like `2026-12-01T00:00:00.000+0000`. */
export function isoTime(text: string | null | undefined): string | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

const EXPIRED = 'OAUTH_403';

/** Below `/services/oauth2` an ended session is answered with 403 (`Bad_OAuth_Token`) instead of 401. */
async function oauthResource(session: CrmSession, open: OpenSession, path: string): Promise<CrmAnswer<unknown>> {
  const answer = await session.rest(open, { path, isAbsolute: true });
  const isExpired = !answer.isOk && answer.kind === 'refused' && /^HTTP_403$|token|oauth/i.test(answer.code ?? '');
  return isExpired ? failure('auth_failed', EXPIRED, answer.message, answer.hint) : answer;
}

async function openDoor(
  session: CrmSession,
  open: OpenSession,
  path: string | undefined,
): Promise<CrmAnswer<FrontDoor>> {
  const query = path === undefined ? '' : `?redirect_uri=${encodeURIComponent(path)}`;
  const answer = await oauthResource(session, open, `/services/oauth2/singleaccess${query}`);
  if (!answer.isOk && answer.kind === 'not_found')
    return { isOk: true, value: { url: sessionDoor(open, path), form: 'sid' } };
  const doors = shaped(answer, Doors);
  if (!doors.isOk) return doors;
  const url = URL.parse(doors.value.frontdoor_uri);
  if (!url?.href.startsWith(`${open.instanceUrl}/`)) return ELSEWHERE;
  return { isOk: true, value: { url: url.href, form: 'singleaccess' } };
}

const sessionDoor = ({ instanceUrl, accessToken }: OpenSession, path: string | undefined): string =>
  `${instanceUrl}/secur/frontdoor.jsp?${new URLSearchParams({ sid: accessToken, ...(path !== undefined && { retURL: path }) })}`;

/** An answer with the shape that the interface promises. */
export function shaped<Shape>(answer: CrmAnswer<unknown>, schema: z.ZodType<Shape>): CrmAnswer<Shape> {
  if (!answer.isOk) return answer;
  const parsed = schema.safeParse(answer.value);
  return parsed.success ? { isOk: true, value: parsed.data } : UNEXPECTED;
}

const UNEXPECTED: CrmFailure = malformed('UNEXPECTED', 'The answer lacks members that the interface promises.');
const ELSEWHERE = malformed('FRONT_DOOR_ELSEWHERE', 'The front door that the org gave is not on its own address.');
const INVALID_PATH = failure(
  'refused',
  'INVALID_PATH',
  'The path is not one within the org.',
  'Give a path that begins with one slash.',
);
const NO_WEB_ACCESS = failure(
  'refused',
  'HTTP_403',
  'The org opens no front door for this credential.',
  'The app of the auth URL needs the scope web or full.',
);
