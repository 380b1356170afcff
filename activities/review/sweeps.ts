import { defineChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { purgeOlderThan } from '../../domain/kernel/system/purges.queries.ts';
import {
  agedRecordingsSweep,
  browserSessionsSweep,
  silentHostsChore,
  strayBrowsersSweep,
} from './browser-sessions/browser-sessions.sweep.ts';
import { reviewAssignmentsSweep, reviewPoolsSweep } from './review-assignments/reviews.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  agedRecordingsSweep,
  browserSessionsSweep(),
  silentHostsChore,
  strayBrowsersSweep,
  reviewAssignmentsSweep(),
  reviewPoolsSweep,
  defineChore({
    name: 'ended-reviews',
    run: ({ system, retention }) => purgeOlderThan(system, 'purge_reviews', retention.reviewDays),
  }),
];
