import { dueRefreshes } from '../../../domain/code/pull-requests/refresh.queries.ts';
import {
  pullRequestsContract,
  refreshDueSignal,
} from '../../../workflows/code/pull-requests/pull-requests.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** Wakes the refreshes of projects whose pull requests are to be read from their hosts. */
export const pullRequestsSweep = defineSweep({
  name: 'pull-requests',
  limit: 100,
  isRoutine: true,
  due: ({ system }, limit) => dueRefreshes(system, limit),
  key: ({ projectId }) => projectId,
  handle: ({ launch }, project) => launch.signalWithStart(pullRequestsContract, project, refreshDueSignal),
});
