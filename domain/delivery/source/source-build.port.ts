import type { TenantKey } from '../../kernel/shared/actor.ts';

/** A component as `package.xml` names it: a type and a full name, such as `CustomField` and `Account.Rating__c`. */
export interface ComponentName {
  type: string;
  fullName: string;
}

/** Text of files that an environment has otherwise: as it is, no pattern; nothing of the environment or of files. */
export interface StaticReplacement {
  find: string;
  replaceWith: string;
  /** In which files: `*` matches within a segment of their paths, `**` across segments; in all when absent. */
  files?: string[];
}

/** What is to be made of the source of a commit, for one environment. */
export interface SourceOrder extends TenantKey {
  projectId: string;
  commitSha: string;
  /** What the environment ran last, whole or up to date by deltas; null: not known. */
  baseSha: string | null;
  /** The commit is an ancestor of the base, on purpose: what came since is taken back. */
  isRollback?: boolean;
  /** Names or directories of packages of `sfdx-project.json`; all, in its order, when absent. */
  packages?: string[];
  /** Whether components that are gone are deleted; otherwise they are answered as pending. */
  deletions: boolean;
  /** All components, whatever changed. */
  whole?: boolean;
  /** The base was deployed with other replacements or ignored paths, so that its files say nothing of what the org runs. */
  hasOtherSettings?: boolean;
  /** What earlier builds for the environment left undeleted. */
  pending?: ComponentName[];
  /** Patterns as those of replacements, beside what `.forceignore` lists: neither deployed nor deleted. */
  ignoredPaths?: string[];
  replacements?: StaticReplacement[];
  /** Such as `64.0`. */
  apiVersion: string;
}

export interface BuiltComponent extends ComponentName {
  /** Its file, or folder, in the repository. */
  path: string;
  /** Name of the package, or its directory where it has none. */
  package: string;
}

/** A zip with `package.xml` that a deployment takes as it is. */
export interface SourceBuild {
  /**
   * Key in the object store; null when there is nothing to deploy. The same order has the same key; whoever has deployed it
   * removes it.
   */
  object: string | null;
  bytes: number;
  components: BuiltComponent[];
  /** In its `destructiveChangesPost.xml`: they go after what may still refer to them was deployed. */
  deletions: ComponentName[];
  /** Gone from the source and not deleted: to be handed to the next build as `pending`. */
  pendingDeletions: ComponentName[];
  /** Gone from the source, and of a type that the platform deletes by no deployment. */
  undeletable: ComponentName[];
  /** The commit by which it is known what is gone; null: that is not known. */
  comparedWith: string | null;
  form: 'delta' | 'whole' | 'nothing';
  /** A sentence for people: why this form. */
  reason: string;
  warnings: string[];
}

/** @property reason for people; contains no paths of the machine. */
export interface SourceRefusal {
  isOk: false;
  reason: string;
}
