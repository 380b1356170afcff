import { dueMirrors } from '../../domain/git/due-mirrors.queries.ts';
import { fetchSignal, gitMirrorContract } from '../../workflows/git/git-mirror.contract.ts';
import { defineSweep } from '../system/define-sweep.ts';

/** A request that was not taken up for this long lost its signal. */
const OVERDUE_SECONDS = 15;

/** Fetches repositories that are due, and those for which a fetch was asked and not begun: only these count. */
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
