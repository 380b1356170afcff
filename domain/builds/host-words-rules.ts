import type { BuildState } from './build-state-rules.ts';

/** The hosts' words for what a build is, or came to. */
const STATES: Readonly<Record<string, BuildState>> = {
  queued: 'pending',
  requested: 'pending',
  waiting: 'pending',
  pending: 'pending',
  created: 'pending',
  preparing: 'pending',
  waiting_for_resource: 'pending',
  scheduled: 'pending',
  manual: 'pending',
  notstarted: 'pending',
  in_progress: 'running',
  inprogress: 'running',
  running: 'running',
  canceling: 'running',
  success: 'succeeded',
  succeeded: 'succeeded',
  neutral: 'succeeded',
  skipped: 'succeeded',
  partiallysucceeded: 'failed',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  stopped: 'cancelled',
};

/** A word that is not known is a failure of some kind: `timed_out`, `action_required`, `startup_failure`, … */
export const stateOfWord = (word: string | null): BuildState => STATES[(word ?? 'pending').toLowerCase()] ?? 'failed';
