import { z } from 'zod';
import { DEFAULT_CLIENT_ID, OAUTH_REDIRECT_URI } from '../../../domain/orgs/crm/auth-url-rules.ts';
import type { CrmAnswer, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { CrmScratchOrgs, Signup } from '../../../domain/orgs/crm/crm-scratch-orgs.port.ts';
import { permittedOrigin } from '../../../domain/orgs/crm/org-origin.ts';
import { malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { shaped } from './crm-org.ts';
import { text } from './crm-sandboxes.ts';
import type { CrmSession } from './crm-session.ts';

const SIGNUPS = '/sobjects/ScratchOrgInfo';
const Made = z.object({ id: z.string().min(1), success: z.literal(true) });
const Row = z.object({
  Id: z.string(),
  Status: z.string(),
  ErrorCode: text,
  SignupUsername: text,
  SignupInstance: text,
  LoginUrl: text,
  ExpirationDate: text,
});
const Marked = z.object({ Id: z.string(), Description: text });
const Code = z.object({ AuthCode: text });
const Named = z.object({ Id: z.string() });
/** Rows that one user asks for between an answer that was lost and the search for it. */
const MARKED_MAX = 2_000;

/**
 * Scratch orgs of a dev hub by `ScratchOrgInfo` and `ActiveScratchOrg` (developer.salesforce.com, Object Reference; forcedotcom/sfdx-core
 * `scratchOrgInfoApi.ts`, `org.ts`).
 */
export function createCrmScratchOrgs(
  session: CrmSession,
  query: CrmOrg['query'],
  addresses: HostAddresses,
): CrmScratchOrgs {
  const rowsOf = async <Shape>(soql: string, schema: z.ZodType<Shape>, maxRows = 1): Promise<CrmAnswer<Shape[]>> => {
    const found = await query(soql, { maxRows });
    return found.isOk ? shaped({ isOk: true, value: found.value.rows }, z.array(schema)) : found;
  };
  return {
    async createSignup({ fields, description, durationDays }) {
      const body = {
        ...fields,
        Description: description,
        DurationDays: durationDays,
        ConnectedAppConsumerKey: DEFAULT_CLIENT_ID,
        ConnectedAppCallbackUrl: OAUTH_REDIRECT_URI,
      };
      const made = shaped(await session.call({ path: SIGNUPS, body }), Made);
      return made.isOk ? { isOk: true, value: { signupId: made.value.id } } : made;
    },

    async signup(signupId) {
      const soql = `SELECT ${Object.keys(Row.shape).join(', ')} FROM ScratchOrgInfo WHERE Id = ${soqlText(signupId)}`;
      const rows = await rowsOf(soql, Row);
      if (!rows.isOk) return rows;
      const [row] = rows.value;
      return row ? signupOf(row, addresses) : { isOk: true, value: null };
    },

    async signupsSince({ userId, since }) {
      // The platform refuses conditions on Description.
      const soql = `SELECT Id, Description FROM ScratchOrgInfo WHERE CreatedById = ${soqlText(userId)} AND CreatedDate >= ${since} ORDER BY CreatedDate DESC LIMIT ${MARKED_MAX}`;
      const rows = await rowsOf(soql, Marked, MARKED_MAX);
      if (!rows.isOk) return rows;
      const value = rows.value.map(({ Id: id, Description: description }) => ({ id, description: description ?? '' }));
      return { isOk: true, value };
    },

    async signupCode(signupId) {
      const rows = await rowsOf(`SELECT AuthCode FROM ScratchOrgInfo WHERE Id = ${soqlText(signupId)}`, Code);
      return rows.isOk ? { isOk: true, value: rows.value[0]?.AuthCode ?? null } : rows;
    },

    async deleteScratchOrg(signupId) {
      const soql = `SELECT Id FROM ActiveScratchOrg WHERE ScratchOrgInfoId = ${soqlText(signupId)}`;
      const rows = await rowsOf(soql, Named);
      if (!rows.isOk) return rows;
      const [active] = rows.value;
      if (!active) return { isOk: true, value: false };
      const deleted = await session.call({ method: 'DELETE', path: `/sobjects/ActiveScratchOrg/${active.Id}` });
      return deleted.isOk || deleted.kind === 'not_found' ? { isOk: true, value: deleted.isOk } : deleted;
    },
  };
}

function signupOf(row: z.output<typeof Row>, addresses: HostAddresses): CrmAnswer<Signup> {
  const address = loginAddress(row);
  const origin = address === null ? null : permittedOrigin(address, addresses);
  if (origin?.isOk === false)
    return malformed('LOGIN_URL_REFUSED', 'The address of the scratch org is one that may not be called.');
  return {
    isOk: true,
    value: {
      id: row.Id,
      status: row.Status,
      errorCode: row.ErrorCode,
      username: row.SignupUsername,
      loginUrl: origin?.origin ?? null,
      expirationDate: row.ExpirationDate,
    },
  };
}

/** Instances whose name ends in `s` have no address of that name. */
const loginAddress = ({ SignupInstance: instance, LoginUrl: loginUrl }: z.output<typeof Row>): string | null =>
  instance === null || /s$/i.test(instance) || !/^\w+$/.test(instance)
    ? loginUrl
    : `https://${instance.toLowerCase()}.salesforce.com`;
