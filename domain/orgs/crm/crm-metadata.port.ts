/** A type of metadata that the org has. */
export interface MetadataType {
  name: string;
  /** Folder of its files in an archive: `classes`. */
  directoryName: string;
  suffix: string | null;
  /** Its components are in folders, and listed one folder at a time. */
  isInFolder: boolean;
  hasMetaFile: boolean;
  childTypes: string[];
}

export interface ListQuery {
  type: string;
  folder?: string;
}

/** One component of a list; what the platform leaves out is null. */
export interface ListedComponent {
  /**
   * Type as the platform says it, which need not be a type that was asked for; null where it says nil: see the suffix of the
   * file.
   */
  type: string | null;
  /** With the namespace in each of its parts: `ns__Invoice__c.ns__Total__c`. */
  fullName: string;
  fileName: string | null;
  id: string | null;
  createdAt: string | null;
  createdByName: string | null;
  lastModifiedAt: string | null;
  lastModifiedByName: string | null;
  lastModifiedById: string | null;
  /** `unmanaged`, `installed`, `installedEditable`, `released`, `beta`, `deprecated`, `deprecatedEditable`, `deleted`. */
  manageableState: string | null;
  namespacePrefix: string | null;
}

export interface RetrieveOrder {
  /** Components by type; `*` takes all of a type but standard objects and the contents of folders. */
  types: readonly { name: string; members: readonly string[] }[];
}

/** All of a package of that name, as an outbound change set is one. */
export interface PackageRetrieveOrder {
  packageName: string;
}

export interface RetrieveMessage {
  fileName: string;
  problem: string;
}

export interface RetrieveStatus {
  state: 'pending' | 'in_progress' | 'succeeded' | 'failed';
  /** The platform's code of a failure; `LIMIT_EXCEEDED` asks for smaller orders. Null: it has not failed. */
  errorCode: string | null;
  /** At most 300 characters, without secrets. */
  errorMessage: string | null;
}

/** One file of an archive. Names are checked: relative, without `..`, each once. */
export interface ZipEntry {
  /** `unpackaged/classes/A.cls`. */
  path: string;
  /** Unpacked; the content is never longer. */
  sizeBytes: number;
  /** May be read once, and several entries at the same time. A defect of the archive ends the whole download as `malformed`. */
  content: () => AsyncIterable<Uint8Array>;
}

export interface RetrievedArchive {
  /** Bytes of the archive itself. */
  sizeBytes: number;
  /** All checked before any is given; without folders. */
  entries: readonly ZipEntry[];
  /** About the files, as in a list. */
  files: ListedComponent[];
  /** Members that were not found are here, and are no failure. */
  messages: RetrieveMessage[];
}
