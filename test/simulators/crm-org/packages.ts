import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { newId, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError, type SimulatedRequest } from './replies.ts';
import { SoqlError, type SoqlTable } from './soql.ts';

/** A version that the org can install. */
export interface OfferedVersion {
  id: string;
  packageId: string;
  name: string;
  number: readonly [number, number, number, number];
  /** Ids of the versions that it needs, in the order in which they are to be installed. */
  needs: string[];
  key: string | null;
  isReleased: boolean;
  /** An unlocked package shows nothing of itself without its key. */
  isUnlocked: boolean;
  /** What the next questions after its validation are answered, before the org says what it finds. */
  validations: string[];
}

interface PackageRequest {
  id: string;
  act: 'install' | 'uninstall';
  versionId: string;
  status: string;
  errors: string[];
  createdBy: string;
  createdAt: Date;
  /** So many questions are still answered with its status. */
  pollsLeft: number;
}

/** What the org was asked to do, and took. */
export interface PackageLedgerEntry {
  act: 'install' | 'uninstall';
  versionId: string;
  record: Record<string, unknown>;
}

const time = (date: Date): string => date.toISOString().replace('Z', '+0000');
const SOBJECT = /^\/tooling\/sobjects\/(PackageInstallRequest|SubscriberPackageVersionUninstallRequest)(?:\/(\w+))?$/;
const BY_ID =
  /\bFROM\s+SubscriberPackageVersion\s+WHERE\s+Id\s*=\s*'(\w+)'(?:\s+AND\s+InstallationKey\s*=\s*'((?:[^'\\]|\\.)*)')?$/i;
const NUMBERS = ['MajorVersion', 'MinorVersion', 'PatchVersion', 'BuildNumber'] as const;
const VERSION_FIELDS =
  `Id Name Description PublisherName SubscriberPackageId InstallValidationStatus ReleaseState IsBeta IsDeprecated IsManaged IsOrgDependent IsSecurityReviewed InstallationKey Package2ContainerOptions IsPasswordProtected CspTrustedSites Dependencies ${NUMBERS.join(' ')}`.split(
    ' ',
  );
const INSTALLED_FIELDS =
  `Id SubscriberPackageId SubscriberPackage.Name SubscriberPackage.NamespacePrefix SubscriberPackageVersion.Id SubscriberPackageVersion.Name SubscriberPackageVersion.IsManaged SubscriberPackageVersion.Package2ContainerOptions ${NUMBERS.map(
    (part) => `SubscriberPackageVersion.${part}`,
  ).join(' ')}`.split(' ');

/**
 * Packages as the Tooling interface has them: objects SubscriberPackageVersion (asked for by Id, of unlocked packages with their
 * InstallationKey), InstalledSubscriberPackage, PackageInstallRequest, SubscriberPackageVersionUninstallRequest and
 * PackageVersionUninstallRequestError of the vendor's reference. Statuses are those that the vendor's library reads
 * (github.com/forcedotcom/packaging, packageInstall.ts and packageUninstall.ts), whose texts about keys are in its pull request 580; the text
 * about a missing dependency is that of UnofficialSF/LightningFlowComponents issue 1346.
 */
export class OrgPackages {
  readonly #org: SimulatedOrg;
  readonly #offered = new Map<string, OfferedVersion>();
  #requests: PackageRequest[] = [];
  /** Installed versions, by package. */
  readonly installed = new Map<string, OfferedVersion>();
  /** Each request that the org took, in order. */
  readonly ledger: PackageLedgerEntry[] = [];
  /** With these errors the next requests end, one after the other. */
  readonly failures: string[][] = [];
  /** Questions after a request that are answered with its status until it ends. */
  polls = 1;

  constructor(org: SimulatedOrg) {
    this.#org = org;
  }

  /** A new version; of the package of an earlier one where that is given. */
  offer(
    name: string,
    { of, ...given }: Partial<Omit<OfferedVersion, 'id' | 'packageId' | 'name'>> & { of?: OfferedVersion } = {},
  ): OfferedVersion {
    const version: OfferedVersion = {
      id: longId(newId('04t')),
      packageId: of?.packageId ?? longId(newId('033')),
      name,
      number: [1, 0, 0, 1],
      needs: [],
      key: null,
      isReleased: true,
      isUnlocked: true,
      validations: [],
      ...given,
    };
    this.#offered.set(version.id, version);
    return version;
  }

  /** Its requests are gone, as after the days for which an org keeps them. */
  forget(): void {
    this.#requests = [];
  }

  has(version: OfferedVersion): void {
    this.installed.set(version.packageId, version);
  }

  tables(soql: string): Record<string, SoqlTable> {
    const { rows, fields } = this.#requestTables();
    return {
      InstalledSubscriberPackage: {
        fields: INSTALLED_FIELDS,
        rows: () =>
          [...this.installed.values()].map(({ id, packageId, name, number, isUnlocked }) => ({
            Id: packageId.replace('033', '0A3'),
            SubscriberPackageId: packageId,
            'SubscriberPackage.Name': name,
            'SubscriberPackage.NamespacePrefix': null,
            'SubscriberPackageVersion.Id': id,
            'SubscriberPackageVersion.Name': name,
            'SubscriberPackageVersion.IsManaged': !isUnlocked,
            'SubscriberPackageVersion.Package2ContainerOptions': isUnlocked ? 'Unlocked' : 'Managed',
            ...Object.fromEntries(NUMBERS.map((part, at) => [`SubscriberPackageVersion.${part}`, number[at] ?? 0])),
          })),
      },
      SubscriberPackageVersion: { fields: VERSION_FIELDS, rows: () => this.#versions(soql) },
      PackageInstallRequest: {
        fields: [...fields, 'SubscriberPackageVersionKey', 'Errors'],
        rows: () => rows('install'),
      },
      SubscriberPackageVersionUninstallRequest: {
        fields: [...fields, 'SubscriberPackageVersionId'],
        rows: () => rows('uninstall'),
      },
      PackageVersionUninstallRequestError: {
        fields: ['Message', 'ParentRequestId'],
        rows: () =>
          this.#requests
            .filter(({ act }) => act === 'uninstall')
            .flatMap(({ id, errors }) => errors.map((text) => ({ Message: text, ParentRequestId: id }))),
      },
    };
  }

  /** Undefined for other paths. */
  reply({ method, body }: SimulatedRequest, resource: string): Reply | undefined {
    const [, type, id] = SOBJECT.exec(resource) ?? [];
    if (type === undefined) return undefined;
    const act = type === 'PackageInstallRequest' ? 'install' : 'uninstall';
    if (method === 'GET' && id !== undefined) {
      const row = this.#requestTables()
        .rows(act)
        .find((each) => each.Id.slice(0, 15) === id.slice(0, 15));
      return row && json(200, { attributes: { type }, ...row });
    }
    if (method !== 'POST' || id !== undefined) return undefined;
    const record = JSON.parse(body) as Record<string, unknown>;
    return act === 'install' ? this.#install(record) : this.#uninstall(record);
  }

  #requestTables() {
    const rows = (act: PackageRequest['act']) =>
      this.#requests
        .filter((request) => request.act === act)
        .map((request) => {
          this.#goOn(request);
          const { id, status, versionId, createdBy, createdAt, errors } = request;
          return {
            Id: id,
            Status: status,
            CreatedById: createdBy,
            CreatedDate: time(createdAt),
            SubscriberPackageVersionKey: versionId,
            SubscriberPackageVersionId: versionId,
            Errors: errors.length === 0 ? null : { errors: errors.map((message) => ({ message })) },
          };
        });
    return { rows, fields: ['Id', 'Status', 'CreatedById', 'CreatedDate'] };
  }

  #goOn(request: PackageRequest): void {
    if (!isUnderWay(request) || request.pollsLeft-- > 0) return;
    const version = this.#offered.get(request.versionId);
    request.errors = this.failures.shift() ?? (request.act === 'install' ? this.#missing(version) : []);
    const isInstall = request.act === 'install';
    request.status = request.errors.length > 0 ? (isInstall ? 'ERROR' : 'Error') : isInstall ? 'SUCCESS' : 'Success';
    if (request.errors.length > 0 || !version) return;
    if (isInstall) this.has(version);
    else this.installed.delete(version.packageId);
  }

  #missing(version: OfferedVersion | undefined): string[] {
    return (version?.needs ?? []).flatMap((id) => {
      const needed = this.#offered.get(id);
      const there = needed && this.installed.get(needed.packageId);
      return needed && (!there || isEarlier(there, needed))
        ? [
            `The package you're installing depends on package '${needed.name}', version '${needed.number.slice(0, 2).join('.')}'. Install package '${needed.name}' in the target org before you install package '${version?.name}'.`,
          ]
        : [];
    });
  }

  #versions(soql: string) {
    const [, id = '', key] = BY_ID.exec(soql.trim()) ?? [];
    if (id === '')
      throw new SoqlError(
        'MALFORMED_QUERY',
        `${soql.slice(-200)} ^ Implementation restriction: You can only perform queries of the form Id = <value>`,
      );
    const version = [...this.#offered.values()].find((each) => each.id.slice(0, 15) === id.slice(0, 15));
    if (!version) return [];
    const given = key?.replaceAll(/\\(.)/g, '$1');
    if (version.isUnlocked && version.key !== null && this.installed.get(version.packageId)?.id !== version.id) {
      if (given === undefined)
        throw new SoqlError(
          'INSTALL_KEY_REQUIRED',
          'Please provide installationkey when querying against SubscriberPackageVersion that is protected by installationkey',
        );
      if (given !== version.key)
        throw new SoqlError('INSTALL_KEY_INVALID', 'Invalid InstallationKey for SubscriberPackageVersion');
    }
    return [
      {
        Id: version.id,
        Name: version.name,
        SubscriberPackageId: version.packageId,
        InstallValidationStatus: version.validations.shift() ?? this.#validationOf(version),
        ReleaseState: version.isReleased ? 'Released' : 'Beta',
        IsBeta: !version.isReleased,
        IsDeprecated: false,
        IsManaged: !version.isUnlocked,
        IsOrgDependent: false,
        IsSecurityReviewed: false,
        Description: null,
        PublisherName: 'Acme',
        CspTrustedSites: null,
        InstallationKey: given ?? null,
        Package2ContainerOptions: version.isUnlocked ? 'Unlocked' : 'Managed',
        IsPasswordProtected: version.key !== null,
        Dependencies:
          version.needs.length === 0
            ? null
            : { ids: version.needs.map((each) => ({ subscriberPackageVersionId: each })) },
        ...Object.fromEntries(NUMBERS.map((part, at) => [part, version.number[at] ?? 0])),
      },
    ];
  }

  #validationOf(version: OfferedVersion): string {
    const there = this.installed.get(version.packageId);
    if (there && isEarlier(version, there)) return 'CANNOT_INSTALL_EARLIER_VERSION';
    if (!version.isReleased && this.#org.kind === 'production') return 'BETA_INSTALL_INTO_PRODUCTION_ORG';
    return 'NO_ERRORS_DETECTED';
  }

  #install(record: Record<string, unknown>): Reply {
    const version = this.#offered.get(String(record.SubscriberPackageVersionKey));
    if (!version) return restError(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    if (version.key !== null && record.Password !== version.key)
      return restError(400, 'INSTALL_KEY_INVALID', 'The installation key is invalid.');
    return this.#take('install', version.id, record);
  }

  #uninstall(record: Record<string, unknown>): Reply {
    const version = [...this.installed.values()].find(({ id }) => id === record.SubscriberPackageVersionId);
    if (!version) return restError(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    return this.#take('uninstall', version.id, record);
  }

  /** Installations share the lock of set-up changes: SFDO-Tooling/CumulusCI issue 218. */
  #take(act: PackageRequest['act'], versionId: string, record: Record<string, unknown>): Reply {
    if (this.#requests.some(isUnderWay))
      return restError(400, 'ALREADY_IN_PROCESS', 'The administration setup has already been locked by another user.');
    const id = longId(newId(act === 'install' ? '0Hf' : '06y'));
    const { Password: _, ...shown } = record;
    this.ledger.push({ act, versionId, record: shown });
    this.#requests.push({
      id,
      act,
      versionId,
      status: act === 'install' ? 'IN_PROGRESS' : 'Queued',
      errors: [],
      createdBy: this.#org.userId,
      createdAt: new Date(),
      pollsLeft: this.polls,
    });
    return json(201, { id, success: true, errors: [], warnings: [], infos: [] });
  }
}

const isUnderWay = ({ status }: PackageRequest): boolean => status === 'IN_PROGRESS' || status === 'Queued';

/** Whether a version of the same package comes before another. */
function isEarlier({ number: left }: OfferedVersion, { number: right }: OfferedVersion): boolean {
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}
