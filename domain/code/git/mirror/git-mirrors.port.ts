/** Names a mirror: each project has one. */
export interface MirrorOf {
  tenantId: string;
  projectId: string;
}

/** Authenticates at a remote. Never part of an address, an argument or a log. */
export interface GitCredential {
  username: string;
  /** A password or token. */
  password?: string | undefined;
  /** A private key for ssh, in OpenSSH's form. */
  privateKey?: string | undefined;
}

export interface Remote {
  url: string;
  credential: GitCredential | undefined;
}

/** @property reason for people; contains no addresses, paths or secrets. */
export type FetchResult = { outcome: 'fetched' } | { outcome: 'failed'; reason: string };

export interface Ref {
  kind: 'branch' | 'tag';
  name: string;
  /** The commit; of an annotated tag the one that it points to. */
  sha: string;
}

export interface CommitLine {
  sha: string;
  parents: string[];
}

export interface CommitText {
  sha: string;
  authorName: string;
  authorEmail: string;
  /** Seconds since the epoch. */
  authoredAt: number;
  committedAt: number;
  subject: string;
  body: string;
}

/** A commit and one of its parents; null: the empty tree. */
export interface CommitPair {
  sha: string;
  parent: string | null;
}

export interface CheckoutOrder {
  sha: string;
  /** Exists and is empty; beside it an index of the same name is written. */
  folder: string;
  /** Whether a file is not written. */
  isLeftOut: (path: string) => boolean;
  /** Why nothing is written; asked as the files are counted and received. */
  whyTooLarge: (checkout: { files: number; bytes: number }) => string | undefined;
}

/** What a commit has at a path. */
export interface ListedFile {
  path: string;
  kind: 'file' | 'link' | 'submodule';
  /** Object id of the content. */
  blob: string;
}

/**
 * @property leftOut counts links, submodules and unwritable names, too. @property reason for people.
 * @property mayPass the remote did not hand out what the mirror lacks.
 */
export type Checkout =
  | { isOk: true; files: number; leftOut: number; bytes: number }
  | { isOk: false; reason: string; mayPass?: true };

/** Copies of the repositories of projects, read by the git program. Names and ids in them are untrusted. */
/** A file of a commit, and a line of it. */
export interface ChangedPlace {
  sha: string;
  path: string;
  /** From 1; null: the file as a whole. */
  line: number | null;
}

export interface LastChange {
  sha: string;
  subject: string;
  /** Name of the author. */
  author: string;
  /** When it was written; ISO 8601. */
  at: string;
}

export interface GitMirrors {
  /** Updates a mirror from its remote, and creates it where there is none. */
  fetch: (mirror: MirrorOf, remote: Remote, signal: AbortSignal) => Promise<FetchResult>;
  refs: (mirror: MirrorOf) => Promise<Ref[]>;
  /** Commits reachable from the tips and not from the known ones, parents before children. */
  newCommits: (mirror: MirrorOf, tips: readonly string[], known: readonly string[]) => Promise<CommitLine[]>;
  /** The ones of some commits that the mirror has; it may have lost rewritten history. */
  present: (mirror: MirrorOf, shas: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The texts of commits, in the order of `shas`. */
  commits: (mirror: MirrorOf, shas: readonly string[]) => Promise<CommitText[]>;
  /** Calls `onPath` with every path in which the commit of a pair differs from its parent, and the index of the pair. */
  changedPaths: (
    mirror: MirrorOf,
    pairs: readonly CommitPair[],
    onPath: (index: number, path: string) => void,
  ) => Promise<void>;
  /**
   * How a commit differs from a base since the two parted: calls `onPath` with every path, and counts the commits of
   * either side alone. Undefined when the mirror lacks one of them.
   */
  compare: (
    mirror: MirrorOf,
    sides: { base: string; head: string },
    onPath: (change: 'added' | 'deleted' | 'modified', path: string) => void,
  ) => Promise<{ ahead: number; behind: number } | undefined>;
  /**
   * Calls `onLines` with the lines of a head, by the first and how many, that differ from a base in some files, of both of
   * which the contents were checked out before: it throws where they were not. Names with control characters, quotes or
   * backslashes are left out.
   */
  changedLines: (
    mirror: MirrorOf,
    sides: { base: string; head: string; paths: readonly string[] },
    onLines: (path: string, first: number, count: number) => void,
  ) => Promise<void>;
  /** Whether a commit is among the ancestors of another, or is the same one. False when the mirror lacks one of them. */
  isAncestor: (mirror: MirrorOf, ancestor: string, sha: string) => Promise<boolean>;
  /** Calls `onFile` with all that is in a commit, without reading contents. Throws when the mirror lacks the commit. */
  files: (mirror: MirrorOf, sha: string, onFile: (file: ListedFile) => void) => Promise<void>;
  /** A file as it is in a commit; undefined when there is none, or it is larger. Fetches it where the mirror lacks it. */
  file: (mirror: MirrorOf, remote: Remote, sha: string, path: string, maxBytes: number) => Promise<string | undefined>;
  /**
   * The commit that changed a place last, as a commit has it; that of the file where the line cannot be told within some
   * seconds. Undefined: not known. Fetches contents that the mirror lacks.
   */
  lastChange: (
    mirror: MirrorOf,
    remote: Remote,
    place: ChangedPlace,
    signal: AbortSignal,
  ) => Promise<LastChange | undefined>;
  /** Bytes of a content; undefined when the mirror lacks it. */
  sizeOf: (mirror: MirrorOf, blob: string) => Promise<number | undefined>;
  /**
   * Writes the regular files of a commit into a folder: no links, no submodules, nothing outside of it. Fetches what the
   * mirror lacks of them.
   */
  checkout: (mirror: MirrorOf, remote: Remote, order: CheckoutOrder, signal: AbortSignal) => Promise<Checkout>;
}
