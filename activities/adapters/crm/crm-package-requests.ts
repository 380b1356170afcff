import { z } from 'zod';
import type {
  CrmPackageRequest,
  CrmPackages,
  PackageRequestQuery,
} from '../../../domain/orgs/crm/crm-packages.port.ts';
import type { CrmAnswer, CrmFailure, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { cut, failure } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { isoOf } from '../../../domain/kernel/text/date-time-rules.ts';
import { soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import { idOf, isoTime, shaped } from './crm-org.ts';

export const fieldsOf = (schema: z.ZodObject): string => Object.keys(schema.shape).join(', ');

export type ToolingRows = <Row>(soql: string, schema: z.ZodType<Row>, maxRows?: number) => Promise<CrmAnswer<Row[]>>;

/** Rows of the Tooling interface, as a schema has them. */
export const toolingRows =
  (query: CrmOrg['query']): ToolingRows =>
  async (soql, schema, maxRows) => {
    const answer = await query(soql, { isTooling: true, ...(maxRows !== undefined && { maxRows }) });
    return answer.isOk ? shaped({ isOk: true, value: answer.value.rows }, z.array(schema)) : answer;
  };

const Uninstall = z.object({
  Id: idOf('06y'),
  SubscriberPackageVersionId: idOf('04t'),
  Status: z.string(),
  CreatedDate: z.string(),
});
const Install = z.object({
  Id: idOf('0Hf'),
  SubscriberPackageVersionKey: idOf('04t'),
  Status: z.string(),
  CreatedDate: z.string(),
  Errors: z.object({ errors: z.array(z.object({ message: z.string() })).nullish() }).nullish(),
});

/** Most texts of one failed request; a failed uninstallation has one for each component in use. */
const ERRORS_MAX = 50;
const REQUESTS_MAX = 50;

/** What an org was asked to install and uninstall, and what became of it. */
export function createPackageRequests(rows: ToolingRows): Pick<CrmPackages, 'packageRequest' | 'packageRequests'> {
  const requests = async (
    act: PackageRequestQuery['act'],
    condition: string,
  ): Promise<CrmAnswer<CrmPackageRequest[]>> => {
    const tail = `WHERE ${condition} ORDER BY CreatedDate DESC LIMIT ${REQUESTS_MAX}`;
    if (act === 'install') {
      const found = await rows(`SELECT ${fieldsOf(Install)} FROM PackageInstallRequest ${tail}`, Install);
      return found.isOk ? { isOk: true, value: found.value.map(installOf) } : found;
    }
    const found = await rows(
      `SELECT ${fieldsOf(Uninstall)} FROM SubscriberPackageVersionUninstallRequest ${tail}`,
      Uninstall,
    );
    return found.isOk ? { isOk: true, value: found.value.map(uninstallOf) } : found;
  };
  /** Reasons of a failed uninstallation are rows of their own. */
  const withErrors = async (request: CrmPackageRequest): Promise<CrmAnswer<CrmPackageRequest>> => {
    const soql = `SELECT Message FROM PackageVersionUninstallRequestError WHERE ParentRequestId = ${soqlText(request.id)} ORDER BY Message`;
    const found = await rows(soql, z.object({ Message: z.string().nullish() }), ERRORS_MAX);
    if (!found.isOk) return found;
    return { isOk: true, value: { ...request, errors: textsOf(found.value.map(({ Message: text }) => text ?? '')) } };
  };

  return {
    async packageRequest(requestId) {
      const act = requestId.startsWith('06y') ? 'uninstall' : 'install';
      const found = await requests(act, `Id = ${soqlText(requestId)}`);
      if (!found.isOk) return found;
      const [request] = found.value;
      if (!request) return GONE;
      return act === 'uninstall' && request.state === 'failed' ? withErrors(request) : { isOk: true, value: request };
    },

    packageRequests: ({ act, versionId, userId, since }) =>
      requests(
        act,
        [
          `${act === 'install' ? 'SubscriberPackageVersionKey' : 'SubscriberPackageVersionId'} = ${soqlText(versionId)}`,
          ...(userId === undefined ? [] : [`CreatedById = ${soqlText(userId)}`]),
          `CreatedDate >= ${isoOf(since)}`,
        ].join(' AND '),
      ),
  };
}

/** The interface says `SUCCESS` and `IN_PROGRESS` of installations, its documentation `Success` and `InProgress`. */
const stateOf = (status: string): CrmPackageRequest['state'] =>
  (({ success: 'succeeded', error: 'failed' }) as const)[status.toLowerCase()] ?? 'running';

const textsOf = (texts: readonly string[]): string[] => texts.slice(0, ERRORS_MAX).map((text) => cut(text));

const installOf = ({
  Id,
  SubscriberPackageVersionKey: versionId,
  Status: status,
  CreatedDate,
  Errors,
}: z.output<typeof Install>): CrmPackageRequest => ({
  id: Id,
  versionId,
  state: stateOf(status),
  status: cut(status),
  errors: textsOf((Errors?.errors ?? []).map(({ message }) => message)),
  createdAt: isoTime(CreatedDate) ?? CreatedDate,
});

const uninstallOf = ({
  Id,
  SubscriberPackageVersionId: versionId,
  Status: status,
  CreatedDate,
}: z.output<typeof Uninstall>): CrmPackageRequest => ({
  id: Id,
  versionId,
  state: stateOf(status),
  status: cut(status),
  errors: [],
  createdAt: isoTime(CreatedDate) ?? CreatedDate,
});

const GONE: CrmFailure = failure(
  'not_found',
  'NOT_FOUND',
  'The org has no such request any more.',
  'Look at the installed packages of the org.',
);
