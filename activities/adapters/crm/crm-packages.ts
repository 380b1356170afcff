import { z } from 'zod';
import type { CrmPackages, CrmPackageVersion, InstalledPackage } from '../../../domain/orgs/crm/crm-packages.port.ts';
import type { CrmAnswer, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { cut, failure, malformed } from '../../../domain/orgs/crm/platform-error-rules.ts';
import { soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import { idOf, shaped } from './crm-org.ts';
import { createPackageRequests, fieldsOf, toolingRows } from './crm-package-requests.ts';
import type { CrmSession } from './crm-session.ts';

const NUMBERS = ['MajorVersion', 'MinorVersion', 'PatchVersion', 'BuildNumber'] as const;
const number = z.number().nullish();
const Numbers = z.object({ MajorVersion: number, MinorVersion: number, PatchVersion: number, BuildNumber: number });
const Version = Numbers.extend({
  Id: idOf('04t'),
  Name: z.string().nullish(),
  SubscriberPackageId: idOf('033'),
  InstallValidationStatus: z.string(),
  ReleaseState: z.string().nullish(),
  Package2ContainerOptions: z.string().nullish(),
  IsPasswordProtected: z.boolean().nullish(),
  Dependencies: z.object({ ids: z.array(z.object({ subscriberPackageVersionId: idOf('04t') })).nullish() }).nullish(),
});
const Installed = z.object({
  SubscriberPackageId: idOf('033'),
  SubscriberPackage: z.object({ Name: z.string().nullish(), NamespacePrefix: z.string().nullish() }).nullish(),
  SubscriberPackageVersion: Numbers.extend({ Id: idOf('04t') }),
});
const Created = z.object({ id: z.string() });

const INSTALLED = `SELECT SubscriberPackageId, SubscriberPackage.Name, SubscriberPackage.NamespacePrefix, SubscriberPackageVersion.Id, ${NUMBERS.map(
  (name) => `SubscriberPackageVersion.${name}`,
).join(', ')} FROM InstalledSubscriberPackage ORDER BY SubscriberPackageId`;
/** The org has not got the version yet, or there is none. */
const UNAVAILABLE = 'PACKAGE_UNAVAILABLE';

/**
 * Packages of an org, as the vendor's own library asks for them (github.com/forcedotcom/packaging, packageInstall.ts and
 * packageUninstall.ts; Tooling objects SubscriberPackageVersion, PackageInstallRequest and others).
 */
export function createCrmPackages(session: CrmSession, query: CrmOrg['query']): CrmPackages {
  const rows = toolingRows(query);
  const create = async (type: string, prefix: string, record: Record<string, unknown>) => {
    const created = shaped(await session.call({ path: `/tooling/sobjects/${type}`, body: record }), Created);
    if (!created.isOk) return created;
    const requestId = idOf(prefix).safeParse(created.value.id);
    return requestId.success ? { isOk: true as const, value: { requestId: requestId.data } } : NO_REQUEST;
  };
  return {
    ...createPackageRequests(rows),

    async packageVersion(versionId, key) {
      const withKey = key === undefined ? '' : ` AND InstallationKey = ${soqlText(key)}`;
      const soql = `SELECT ${fieldsOf(Version)} FROM SubscriberPackageVersion WHERE Id = ${soqlText(versionId)}${withKey}`;
      const asked = await rows(soql, Version, 1);
      const found = key === undefined ? asked : codeAlone(asked, 'show the version');
      if (!found.isOk) return found.code === UNAVAILABLE ? { isOk: true, value: null } : found;
      const [version] = found.value;
      return { isOk: true, value: version === undefined ? null : versionOf(version) };
    },

    async installedPackages() {
      const found = await rows(INSTALLED, Installed);
      return found.isOk ? { isOk: true, value: found.value.map(packageOf) } : found;
    },

    async startInstall({ versionId, key, securityType, upgradeType, apexCompile }) {
      const created = await create('PackageInstallRequest', '0Hf', {
        SubscriberPackageVersionKey: versionId,
        NameConflictResolution: 'Block',
        SecurityType: securityType,
        EnableRss: false,
        PackageInstallSource: 'U',
        ...(key !== undefined && { Password: key }),
        ...(upgradeType && { UpgradeType: upgradeType }),
        ...(apexCompile && { ApexCompileType: apexCompile }),
      });
      return key === undefined ? created : codeAlone(created, 'begin to install the version');
    },

    startUninstall: (versionId) =>
      create('SubscriberPackageVersionUninstallRequest', '06y', { SubscriberPackageVersionId: versionId }),
  };
}

const numberOf = (row: z.output<typeof Numbers>): string => NUMBERS.map((name) => row[name] ?? 0).join('.');

const versionOf = (row: z.output<typeof Version>): CrmPackageVersion => ({
  id: row.Id,
  packageId: row.SubscriberPackageId,
  name: cut(row.Name ?? row.Id),
  number: numberOf(row),
  isReleased: row.ReleaseState === 'Released',
  isUnlocked: row.Package2ContainerOptions === 'Unlocked',
  needsKey: row.IsPasswordProtected === true,
  validation: cut(row.InstallValidationStatus),
  dependencies: (row.Dependencies?.ids ?? []).map(({ subscriberPackageVersionId }) => subscriberPackageVersionId),
});

const packageOf = ({
  SubscriberPackageId: packageId,
  SubscriberPackage: found,
  SubscriberPackageVersion: version,
}: z.output<typeof Installed>): InstalledPackage => ({
  packageId,
  versionId: version.Id,
  name: cut(found?.Name ?? packageId),
  namespace: found?.NamespacePrefix ?? null,
  number: numberOf(version),
});

/**
 * The platform repeats what it refuses, a key with it, in what it says of it, and its text is cut, perhaps within the key: of a call with a
 * key its code alone is passed on.
 */
const codeAlone = <Value>(answer: CrmAnswer<Value>, act: string): CrmAnswer<Value> =>
  answer.isOk || answer.code === null || answer.kind === 'malformed'
    ? answer
    : failure(answer.kind, answer.code, `The org did not ${act}: ${answer.code}.`, answer.hint);

const NO_REQUEST = malformed('NO_REQUEST', 'The org gave no id of the request that it was asked to make.');
