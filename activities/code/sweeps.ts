import { defineChore, type Sweep } from '../kernel/system/define-sweep.ts';
import { purgeOlderThan } from '../../domain/kernel/system/purges.queries.ts';
import { mirrorsSweep } from './git/mirrors.sweep.ts';
import { pullRequestsSweep } from './pull-requests/pull-requests.sweep.ts';

/** The sweeps of the area, and what removes its expired rows. */
export const sweeps: readonly Sweep[] = [
  mirrorsSweep,
  pullRequestsSweep,
  defineChore({
    name: 'ended-pull-requests',
    run: ({ system, retention }) => purgeOlderThan(system, 'purge_pull_requests', retention.pullRequestDays),
  }),
];
