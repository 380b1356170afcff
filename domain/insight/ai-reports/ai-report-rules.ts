import { domainNames } from '../../projects/projects/project-rules.ts';
import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

export const REPORT_SCOPES = ['repository', 'domain', 'package'] as const;
export type ReportScope = (typeof REPORT_SCOPES)[number];

/** What reports are about: those of the same key replace each other. */
export interface ReportKey {
  branch: string;
  scope: ReportScope;
  scopeName: string;
}

/** The `scopeName` of reports on a whole repository. */
export const WHOLE_REPOSITORY = 'repository';

/** The most reports that are kept of one key. */
export const REPORTS_KEPT = 10;
/** The most keys of one project whose reports are kept. */
export const REPORT_KEYS_MAX = 1_000;
/** Most bytes (UTF-8) of all texts that are kept of one project. */
export const PROJECT_TEXTS_BYTES_MAX = 256 * 1024 * 1024;
/** The largest text of a report, in bytes of UTF-8. */
export const REPORT_BYTES_MAX = 1024 * 1024;

export const REPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];
/** Statuses of reports that are published. */
export const ENDED_STATUSES = ['completed', 'failed'] as const satisfies ReportStatus[];
export type EndedStatus = (typeof ENDED_STATUSES)[number];

/** How far the reports of a key are. */
export const ANALYSIS_STATUSES = ['never_ran', 'generating', 'completed', 'failed'] as const;
export type AnalysisStatus = (typeof ANALYSIS_STATUSES)[number];

const SHOWN: Record<ReportStatus, AnalysisStatus> = {
  queued: 'generating',
  running: 'generating',
  completed: 'completed',
  failed: 'failed',
};

export const shownStatus = (status: ReportStatus | undefined): AnalysisStatus =>
  status === undefined ? 'never_ran' : SHOWN[status];

/** What is known of a project's domains and packages; nothing known of a kind: any name goes. */
export interface KnownNames {
  domain: readonly string[];
  package: readonly string[];
}

interface WithNames {
  domains?: (string | { name: string; packages?: string[] })[];
  packagePaths?: Record<string, string>;
}

/** The names that a project's configuration lists, with those of its repository and candidates. */
export function knownNames({ domains = [], packagePaths = {} }: WithNames, found: KnownNames): KnownNames {
  const ofDomains = domains.flatMap((domain) => (typeof domain === 'string' ? [] : (domain.packages ?? [])));
  return {
    domain: [...new Set([...domainNames({ domains }), ...found.domain])],
    package: [...new Set([...ofDomains, ...Object.keys(packagePaths), ...found.package])],
  };
}

/** Why there is nothing of that name to report on; undefined if there is. */
export function scopeProblem({ scope, scopeName }: Omit<ReportKey, 'branch'>, known: KnownNames): string | undefined {
  if (scope === 'repository')
    return scopeName === WHOLE_REPOSITORY ? undefined : `must be ${WHOLE_REPOSITORY} where the scope is repository`;
  const names = known[scope];
  if (names.length === 0 || names.includes(scopeName)) return undefined;
  return `The project has no ${scope} ${scopeName}${didYouMean(scopeName, names)}`;
}
