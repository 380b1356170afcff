export { housekeeping, sweep } from './system/sweep.workflow.ts';
export { releaseDomain } from './release-candidates/release-domain.workflow.ts';
