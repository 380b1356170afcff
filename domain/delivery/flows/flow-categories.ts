/** Kinds of types, by which runs are listed. */
export const FLOW_CATEGORIES = [
  'access',
  'environment',
  'release',
  'package',
  'pool',
  'testing',
  'build',
  'repository',
  'scheduled',
  'cascade',
  'other',
] as const;
export type FlowCategory = (typeof FLOW_CATEGORIES)[number];

/** Types of the parts of a run that makes orgs for a pool, each in one of these orgs. */
export const POOL_PARTS = {
  sandbox: 'pool-sandbox',
  packages: 'pool-packages',
  source: 'pool-source',
  command: 'pool-command',
} as const;

/** The type of the runs that allocate a browser, and wait for its end. */
export const RECORD_SESSION = 'record-session';

/** The type of the runs that play a recording in a browser. */
export const RUN_BROWSER_CHECK = 'run-browser-check';
