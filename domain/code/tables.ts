import {
  GitCommitSchema,
  GitCommitPackageSchema,
  GitMirrorSchema,
  GitPackageSchema,
  GitRangeSchema,
  GitRefSchema,
} from './git/git.entities.ts';
import { PullRequestRefreshSchema, PullRequestSchema } from './pull-requests/pull-requests.entities.ts';
import type { TablesOf } from '../kernel/data/tables.ts';

/** The tables of the area. */
export const entities = [
  GitCommitSchema,
  GitCommitPackageSchema,
  GitMirrorSchema,
  GitPackageSchema,
  GitRangeSchema,
  GitRefSchema,
  PullRequestRefreshSchema,
  PullRequestSchema,
] as const;

declare module '../kernel/data/tables.ts' {
  interface Tables extends TablesOf<typeof entities> {}
}
