import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { PullRequestActivities } from '../../../activities/code/pull-requests/pull-requests.activities.ts';
import { GIT_WORK } from '../../activity-options.ts';
import { runLane } from '../../lane.ts';
import { untilMended } from '../../until-mended.ts';
import { type PullRequestsInput, refreshDueSignal } from './pull-requests.contract.ts';

const { refreshPullRequests } = proxyActivities<PullRequestActivities>(GIT_WORK);

/**
 * Brings what is known of a project's pull requests up to date with its host; the sweeper starts it again when the next
 * refresh is due. While the host cannot be read the workflow waits, and tries again when that is due; it fails, with the
 * reason, when somebody must act, once for each reason.
 */
export const pullRequests = (input: PullRequestsInput): Promise<void> =>
  runLane({
    signal: refreshDueSignal,
    async pump(isSignalled) {
      const report = await refreshPullRequests(input);
      const { outcome, listed, compared, reason = 'its row says why', isNewsForPeople } = report;
      setCurrentDetails(`Host: ${outcome}; pull requests listed: ${listed}, compared with their base: ${compared}`);
      if (outcome !== 'failed') return null;
      const broken = { type: 'host_unreadable', what: 'The host cannot be read', reason, isNewsForPeople };
      await untilMended(isSignalled, broken);
      return 0;
    },
    again: () => continueAsNew<typeof pullRequests>(input),
  });
