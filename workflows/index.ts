export { housekeeping, sweep } from './system/sweep.workflow.ts';
