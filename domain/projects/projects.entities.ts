import { defineEntity, p } from '@mikro-orm/core';
import { tenantOwned } from '../shared/tenant-owned.ts';

export const PLATFORMS = ['host-a', 'host-b', 'host-c'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** What a project says of itself; a missing member means its default. */
export type ProjectConfiguration = {
  displayName?: string;
  branches?: string[];
  /** A plain name, or a name with the packages that belong to the domain. */
  domains?: (string | { name: string; packages?: string[] })[];
  /** Package name to path, for a repository without a manifest that lists its packages. */
  packagePaths?: Record<string, string>;
  devHubs?: string[];
  /** Finalizes a candidate when it is deployed to all environments of category `release`. */
  autoReleaseFinalization?: boolean;
  /** The pipeline of the git host that builds a commit. */
  buildPipeline?: { id: string; inputs?: Record<string, string>; timeoutMinutes?: number };
  cascade?: { from: string; to: string }[];
  workItems?: { provider?: string; boards?: string[]; workItemFilters?: string[]; baseUrl?: string };
  metricsAlertConfig?: Record<string, unknown>;
  /** Candidate statuses of the project's own, beside the four built-in ones. */
  customReleaseStatuses?: string[];
};

const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    ...tenantOwned,
    identifier: p.string(),
    remoteUrl: p.text().nullable(),
    platform: p.enum([...PLATFORMS]).$type<Platform>(),
    defaultBranch: p.string(),
    configuration: p.json<ProjectConfiguration>(),
    version: p.integer().version(),
  },
});
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);

export const projectEntities = [ProjectSchema];
