import { purgeChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { approvalsSweep } from './approvals/approvals.sweep.ts';
import { environmentLocksSweep, lockTicketsSweep } from './environment-locks/environment-locks.sweep.ts';
import {
  flowChecksSweep,
  flowRunsSweep,
  flowSchedulesSweep,
  lostSchedulesChore,
  runCountsChore,
} from './flows/flows.sweep.ts';
import { privilegeGrantsSweep } from './org-people/privilege-grants.sweep.ts';
import { verificationsSweep } from './verification/verifications.sweep.ts';
import { endedHoldsSweep } from './release-candidates/holds.sweep.ts';
import { releaseEventsSweep } from './release-candidates/release-events.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  approvalsSweep(),
  environmentLocksSweep,
  lockTicketsSweep,
  flowChecksSweep,
  flowRunsSweep,
  flowSchedulesSweep,
  lostSchedulesChore,
  runCountsChore,
  privilegeGrantsSweep,
  releaseEventsSweep(),
  endedHoldsSweep,
  verificationsSweep,
  purgeChore('expired-lock-tickets', 'purge_lock_tickets'),
  purgeChore('expired-run-tokens', 'purge_run_tokens'),
  purgeChore('closed-privilege-grants', 'purge_privilege_grants'),
];
