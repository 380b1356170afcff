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
