import { dueMirrors } from '../../../domain/code/git/mirror/mirror.queries.ts';
import { fetchSignal, gitMirrorContract } from '../../../workflows/code/git/git-mirror.contract.ts';
import { defineSweep } from '../../kernel/system/define-sweep.ts';

/** The signal of a request that has not begun for so long was lost. */
const OVERDUE_SECONDS = 15;

/** Fetches repositories that are due, and those whose requested fetch has not begun: only the latter count as found. */
export const mirrorsSweep = defineSweep({
  name: 'git-mirrors',
  limit: 50,
  due: ({ system }, limit) => dueMirrors(system, OVERDUE_SECONDS, limit),
  key: ({ projectId }) => projectId,
  async handle({ launch }, { isLost, ...mirror }) {
    await launch.signalWithStart(gitMirrorContract, mirror, fetchSignal);
    return isLost ? 1 : 0;
  },
});
