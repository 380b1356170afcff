const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
const listed = (names: readonly string[]): string => new Intl.ListFormat('en').format(names);

/** Words of the comparison of what is live with the next release. */
export const hotfix = {
  title: 'Hotfix',
  question: 'What does an environment have that the next release lacks?',
  project: 'Choose a project',
  projectHint: 'The comparison is of one environment and one candidate of a project.',
  noProjects: 'There is no project yet',
  noEnvironment: 'The project has no environment',
  noEnvironmentHint: 'Register the environments that releases go to first.',
  noCandidate: 'There is no candidate to compare with',
  noCandidateHint: 'A build or a pipeline makes the next candidate.',
  environment: 'Environment',
  candidate: 'Next release',
  candidateOf: (release: string, domain: string) => `${release} · ${domain}`,
  said: {
    lacks: (release: string, environment: string, commits: string, workItems: number) =>
      workItems === 0
        ? `${release} lacks ${commits} of ${environment}: carry them back`
        : `${release} lacks ${commits} of ${environment}, of ${counted(workItems, 'work item', 'work items')}: carry them back`,
    goesBack: (release: string, environment: string, packages: number, workItems: number) =>
      packages > 0
        ? `${release} would take ${counted(packages, 'package', 'packages')} of ${environment} back`
        : `${release} lacks ${counted(workItems, 'work item', 'work items')} of ${environment}`,
    hasAll: (release: string, environment: string) => `${release} has all that ${environment} has`,
    isUnknown: (release: string, environment: string) =>
      `Whether ${release} has all that ${environment} has is not known`,
  },
  commits: (count: number, isCut: boolean) =>
    isCut ? `more than ${count} commits` : counted(count, 'commit', 'commits'),
  unknown: (packages: readonly string[]) =>
    `Their commits are not known, so they were not compared: ${listed(packages)}`,
  fetched: (error: string) => `The repository cannot be fetched: ${error}`,
  stale: 'The repository was not fetched lately: newer commits are missing.',
  carry: (environment: string) => `Only in ${environment}: to be carried back`,
  none: 'Nothing.',
  noneKnown: 'Nothing that is known.',
  carryHint: 'Each change in the order in which it was made; merges bring nothing that is not listed.',
  copyCommand: 'Copy as git cherry-pick',
  brings: (release: string) => `Only in ${release}: what it brings`,
  commit: 'Commit',
  message: 'Message',
  author: 'Author',
  at: 'Committed',
  workItems: 'Work items',
  packages: 'Packages',
  merge: 'merge',
  lost: 'Work items that would be lost',
  differ: 'Packages that differ',
  goesBack: 'goes back',
  package: 'Package',
  versionIn: (name: string) => `In ${name}`,
  notCarried: (count: number) => `${counted(count, 'package', 'packages')} that the release does not carry`,
  notCarriedHint: 'They stay as they are; most are of other domains.',
  shown: (shown: number, total: number) => `${shown} of ${total} commits`,
} as const;
