import { condition, continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { GitActivities } from '../../../activities/code/git/git.activities.ts';
import { GIT_WORK } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { untilMended } from '../../until-mended.ts';
import { fetchSignal, type MirrorInput } from './git-mirror.contract.ts';

const { syncMirror } = proxyActivities<GitActivities>(GIT_WORK);

/** A repository that was just fetched is often fetched again soon: the workflow stays for so long. */
const LINGER = '5 seconds';

/**
 * Brings a mirror and its facts up to date with the remote, once for all requests that came meanwhile. While the remote
 * cannot be read the workflow waits, and tries again when the sweeper says that this is due; it fails, with the reason, when
 * somebody must act, once for each reason.
 */
export const gitMirror = (input: MirrorInput): Promise<void> =>
  runLane({
    signal: fetchSignal,
    async pump(isRequested) {
      const report = await syncMirror(input);
      if (report.outcome === 'failed') {
        await untilMended(isRequested, { type: 'remote_unreadable', what: 'The remote cannot be read', ...report });
        return 0;
      }
      await condition(isRequested, LINGER, { summary: 'idle' });
      return null;
    },
    again: () => continueAsNew<typeof gitMirror>(input),
  });
