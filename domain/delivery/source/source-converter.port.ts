import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type { ComponentName, SourceRefusal, StaticReplacement } from './source-build.port.ts';

/** The commit that is built, and the one that the environment ran. */
export type Side = 'head' | 'base';

/** What is known of a commit without the contents of its files. */
export interface SourceTree {
  /** Paths of the files of its packages. */
  files: string[];
  /** Directories of its packages, in their order. */
  directories: string[];
  /** What of the project file says how files are to be read, as JSON. */
  projectFile: string;
  /** Patterns of files that are no source, as in `.forceignore`. */
  ignored: string;
  /** Patterns of files that the environment does not take: `*` matches within a segment, `**` across segments. */
  ignoredPaths: readonly string[];
}

/** What a deployment can take by itself: a component, or one of the parts of an object. */
export interface SourceUnit extends ComponentName {
  /** By which the converter knows it. */
  id: number;
  /** Its file, or folder. */
  path: string;
  /** The unit is another one when any of these is. */
  files: string[];
  /** Further files that are read to convert it. */
  needs: string[];
  /** The object that it is a part of. */
  parent: ComponentName | null;
  /** Types of what its file holds by name, such as labels: each is deleted by itself, and the file never. */
  innerTypes: string[];
  /** Several of the same name, in several packages, become one. */
  isMerged: boolean;
}

export interface ReadTree {
  units: SourceUnit[];
  /** Files that belong to no component, and are not ignored. */
  loose: string[];
}

export interface ConversionOrder {
  /** Ids of units of the head. */
  units: number[];
  deletions: ComponentName[];
  replacements: StaticReplacement[];
  apiVersion: string;
}

export interface ConvertedFile {
  /** Within the zip. */
  name: string;
  /** On this machine, until the place is closed. */
  path: string;
  bytes: number;
}

export interface Converted {
  /** `package.xml` is the first. */
  files: ConvertedFile[];
  warnings: string[];
}

/** Reads source format and converts it to the format of deployments, in a process of its own for each place. */
export interface SourceConverter {
  /** Makes an empty place, when one is free. It is gone after `close`, and when this process ends in any way. */
  open: (signal: AbortSignal) => Promise<ConversionPlace>;
}

/**
 * What goes wrong with the source is an answer. Each call rejects with the reason of the signal when that ended it, and when
 * the machine ended the process.
 */
export interface ConversionPlace {
  /** Where the files of a commit are put that converting needs. */
  folders: Readonly<Record<Side, string>>;
  /** Finds the components by the names of files. */
  read: (side: Side, tree: SourceTree) => Promise<Answer<ReadTree, SourceRefusal>>;
  /** What files hold by name, such as labels; their contents must be in the folder. @param units ids. */
  inner: (side: Side, units: number[]) => Promise<Answer<ComponentName[], SourceRefusal>>;
  /** Once, and the last: the process ends with it. The contents must be in the folder. */
  convert: (order: ConversionOrder) => Promise<Answer<Converted, SourceRefusal>>;
  close: () => Promise<void>;
}
