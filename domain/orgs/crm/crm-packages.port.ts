import type { CrmAnswer } from './crm-platform.port.ts';

/** A version of a package, as the org sees it that it would be installed in. */
export interface CrmPackageVersion {
  /** `04t…`, 18 characters. */
  id: string;
  /** `033…`, 18 characters. */
  packageId: string;
  /** Name of the package. */
  name: string;
  /** `1.4.0.7`. */
  number: string;
  /** False: a beta, which was not promoted. */
  isReleased: boolean;
  isUnlocked: boolean;
  /** It is installed with a key alone. */
  needsKey: boolean;
  /** What the org would say of an installation now, an open set: `NO_ERRORS_DETECTED`. */
  validation: string;
  /** Versions that have to be there before it, in the order in which they have to be installed. */
  dependencies: string[];
}

/** A package that an org has. */
export interface InstalledPackage {
  packageId: string;
  versionId: string;
  name: string;
  namespace: string | null;
  number: string;
}

export interface InstallOrder {
  versionId: string;
  /** Installation key of the version; undefined: it has none. */
  key: string | undefined;
  securityType: 'Full' | 'None';
  /** For unlocked packages alone, as is `apexCompile`. */
  upgradeType?: 'mixed-mode' | 'deprecate-only' | 'delete-only' | undefined;
  apexCompile?: 'all' | 'package' | undefined;
}

/** What an org was asked to do with a version, and where it is. Nobody can cancel it. */
export interface CrmPackageRequest {
  /** `0Hf…` of an installation, `06y…` of an uninstallation; 18 characters. */
  id: string;
  versionId: string;
  state: 'running' | 'succeeded' | 'failed';
  /** As the platform calls it: `IN_PROGRESS`, `Queued`. */
  status: string;
  /** Why it failed, each in at most 300 characters. */
  errors: string[];
  /** ISO 8601, by the clock of the org. */
  createdAt: string;
}

export interface PackageRequestQuery {
  act: 'install' | 'uninstall';
  versionId: string;
  /** Id of the user who asked; undefined: anybody. */
  userId?: string;
  /** ISO 8601. */
  since: string;
}

/**
 * Packages of an org, by the Tooling interface. A call that breaks off (`unreachable`, `timeout`) may have begun what it asked for: the
 * caller looks for the request before it asks again. No key is in a failure.
 */
export interface CrmPackages {
  /**
   * Null: the org does not have the version at hand, perhaps not yet. `refused` with `INSTALL_KEY_REQUIRED` or
   * `INSTALL_KEY_INVALID` for the key of an unlocked version.
   */
  packageVersion: (versionId: string, key?: string) => Promise<CrmAnswer<CrmPackageVersion | null>>;
  installedPackages: () => Promise<CrmAnswer<InstalledPackage[]>>;
  startInstall: (order: InstallOrder) => Promise<CrmAnswer<{ requestId: string }>>;
  startUninstall: (versionId: string) => Promise<CrmAnswer<{ requestId: string }>>;
  /** `not_found` where the org has no such request. */
  packageRequest: (requestId: string) => Promise<CrmAnswer<CrmPackageRequest>>;
  /** Newest first, at most 50. */
  packageRequests: (query: PackageRequestQuery) => Promise<CrmAnswer<CrmPackageRequest[]>>;
}
