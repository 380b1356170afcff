import { z } from 'zod';
import { OAUTH_REDIRECT_URI } from '../../../domain/orgs/crm/auth-url-rules.ts';
import type { CrmAnswer, CrmOrg, QueryOptions } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { CrmSandbox, ScratchOrg } from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import { permittedOrigin } from '../../../domain/orgs/crm/org-origin.ts';
import { malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { currentSandboxes } from '../../../domain/orgs/crm/sandbox-rules.ts';
import { soqlName, soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { createCrmOrg, isoTime, shaped } from './crm-org.ts';
import type { CrmTimeouts } from './crm-http.ts';
import type { CrmSession } from './crm-session.ts';

export const text = z
  .string()
  .nullish()
  .transform((value) => value ?? null);
const time = z.string().refine((value) => !Number.isNaN(Date.parse(value)));
/** A row of `SandboxProcess`. */
export const Process = z.object({
  Id: z.string(),
  Status: z.string(),
  SandboxName: z.string(),
  SandboxInfoId: text,
  LicenseType: text,
  CreatedDate: time,
  CopyProgress: z
    .number()
    .nullish()
    .transform((value) => value ?? null),
  SandboxOrganization: text,
  Description: text,
  EndDate: time.nullish().transform((value) => value ?? null),
});
const Info = z.object({ Id: z.string(), SandboxName: z.string(), LicenseType: text, Description: text });
const Code = z.object({
  authUserName: z.string().min(1),
  authCode: z.string().min(1),
  instanceUrl: z.string(),
  loginUrl: z.string(),
});
const Scratch = z.object({
  Id: z.string(),
  ScratchOrg: text,
  SignupUsername: z.string(),
  LoginUrl: text,
  SignupInstance: text,
  Status: z.string(),
  ExpirationDate: text,
  CreatedDate: time,
});

/** Rows of a username that were its scratch orgs over time; the newest ones are enough. */
const SCRATCH_ROWS = 20;

interface SandboxParts {
  addresses: HostAddresses;
  scratchAuthField: string;
  timeouts: CrmTimeouts;
}

type Sandboxes = Pick<CrmOrg, 'sandboxes' | 'findSandbox' | 'sandboxInfos' | 'sandboxAuth' | 'findScratchOrg'>;

/** What production orgs know of their sandboxes, and dev hubs of their scratch orgs. */
export function createCrmSandboxes(
  session: CrmSession,
  { addresses, scratchAuthField, timeouts }: SandboxParts,
): Sandboxes {
  const { query } = createCrmOrg(session, timeouts);
  const fields = (schema: z.ZodObject) => Object.keys(schema.shape).join(', ');

  const listed = async <Row>(
    soql: string,
    schema: z.ZodType<Row>,
    options: QueryOptions,
  ): Promise<CrmAnswer<Row[]>> => {
    const answer = await query(soql, options);
    return answer.isOk ? shaped({ isOk: true, value: answer.value.rows }, z.array(schema)) : answer;
  };

  const sandboxes = async (condition: string): Promise<CrmAnswer<CrmSandbox[]>> => {
    const soql = `SELECT ${fields(Process)} FROM SandboxProcess${condition} ORDER BY CreatedDate DESC`;
    const rows = await listed(soql, Process, { isTooling: true });
    // Editions without sandboxes have no such object.
    if (!rows.isOk && rows.code === 'INVALID_TYPE') return { isOk: true, value: [] };
    return rows.isOk ? { isOk: true, value: currentSandboxes(rows.value) } : rows;
  };

  const scratchRows = async (username: string, field?: string) => {
    const selected = fields(Scratch) + (field === undefined ? '' : `, ${soqlName(field)}`);
    const soql = `SELECT ${selected} FROM ScratchOrgInfo WHERE SignupUsername = ${soqlText(username)} ORDER BY CreatedDate DESC LIMIT ${SCRATCH_ROWS}`;
    return listed(soql, Scratch.loose(), { maxRows: SCRATCH_ROWS });
  };

  return {
    sandboxes: () => sandboxes(''),

    async findSandbox(name) {
      const found = await sandboxes(` WHERE SandboxName = ${soqlText(name)}`);
      return found.isOk ? { isOk: true, value: found.value[0] ?? null } : found;
    },

    async sandboxInfos() {
      const rows = await listed(`SELECT ${fields(Info)} FROM SandboxInfo ORDER BY SandboxName`, Info, {
        isTooling: true,
      });
      if (!rows.isOk) return rows;
      const infos = rows.value.map(
        ({ Id: id, SandboxName: name, LicenseType: licenseType, Description: description }) => ({
          id,
          name,
          licenseType,
          description,
        }),
      );
      return { isOk: true, value: infos };
    },

    async sandboxAuth({ sandboxName, clientId }) {
      const body = { clientId, sandboxName, callbackUrl: OAUTH_REDIRECT_URI };
      const answer = shaped(await session.call({ path: '/tooling/sandboxAuth', body }), Code);
      if (!answer.isOk) return answer;
      const { authUserName: username, authCode: code, ...urls } = answer.value;
      const [instance, login] = [
        permittedOrigin(urls.instanceUrl, addresses),
        permittedOrigin(urls.loginUrl, addresses),
      ];
      if (!instance.isOk || !login.isOk)
        return malformed('INSTANCE_URL_REFUSED', 'The address of the sandbox is one that may not be called.');
      return { isOk: true, value: { username, code, instanceUrl: instance.origin, loginUrl: login.origin } };
    },

    async findScratchOrg(username) {
      let rows = await scratchRows(username, scratchAuthField);
      const hasField = rows.isOk || rows.code !== 'INVALID_FIELD';
      if (!hasField) rows = await scratchRows(username);
      if (!rows.isOk) return rows;
      const row = rows.value.find(({ Status }) => Status === 'Active') ?? rows.value[0];
      return { isOk: true, value: row ? scratchOrg(row, scratchAuthField, hasField) : null };
    },
  };
}

const scratchOrg = (
  row: z.output<typeof Scratch> & Record<string, unknown>,
  field: string,
  hasField: boolean,
): ScratchOrg => {
  // The field is found in any case, and named as the org writes it.
  const key = Object.keys(row).find((name) => name.toLowerCase() === field.toLowerCase());
  const authUrl = key === undefined ? undefined : row[key];
  return {
    id: row.Id,
    username: row.SignupUsername,
    orgId: row.ScratchOrg,
    status: row.Status,
    loginUrl: row.LoginUrl,
    instanceName: row.SignupInstance,
    expirationDate: row.ExpirationDate,
    createdAt: isoTime(row.CreatedDate) ?? row.CreatedDate,
    auth: !hasField
      ? { state: 'no_field', field }
      : typeof authUrl === 'string' && authUrl.trim() !== ''
        ? { state: 'present', authUrl: authUrl.trim(), field }
        : { state: 'empty', field },
  };
};
