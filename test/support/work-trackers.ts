import { createHostHttp } from '../../activities/adapters/git-hosts/host-http.ts';
import { createTrackerLimits } from '../../activities/adapters/trackers/tracker-http.ts';
import { trackerAt } from '../../activities/adapters/trackers/work-trackers.ts';
import type { HostCredentials, IntegrationOptions } from '../../domain/projects/integrations/integration-rules.ts';
import { outboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import type {
  TrackerAnswer,
  TrackerFailure,
  TrackerTarget,
  TrackerPlatform,
  WorkTracker,
} from '../../domain/work/work-items/work-tracker.port.ts';

export interface TestTrackers {
  of: (
    platform: TrackerPlatform,
    at: { baseUrl: string; credentials: HostCredentials; settings?: IntegrationOptions },
    place?: Partial<TrackerTarget>,
  ) => WorkTracker;
  /** Added to the present, by which limits end. */
  clock: { laterMs: number };
  close: () => Promise<void>;
}

/** For trackers that never answer: nothing that answers may depend on a time so short. */
export const IMPATIENT = { timeoutMs: 300 };

/** Trackers as the service calls them, with loopback open, and more time than any answer takes. */
export function testTrackers({ timeoutMs = 60_000 } = {}): TestTrackers {
  const clock = { laterMs: 0 };
  const http = createHostHttp(outboundAddresses('127.0.0.0/8'), timeoutMs);
  const limits = createTrackerLimits(() => new Date(Date.now() + clock.laterMs));
  return {
    clock,
    of: (platform, at, place = {}) =>
      trackerAt(
        http.exchange,
        limits,
        {
          platform,
          projectId: 'p',
          repositoryIdentifier: 'acme/shop',
          boards: [],
          issueType: 'Task',
          pagesUrl: null,
          ...place,
        },
        at,
      ),
    close: http.close,
  };
}

/** The value of an answer; throws what failed. */
export function valueOf<Value>(answer: TrackerAnswer<Value>): Value {
  if (!answer.isOk) throw new Error(JSON.stringify(answer));
  return answer.value;
}

/** The failure of an answer; throws when it has none. */
export function failureOf(answer: TrackerAnswer<unknown>): TrackerFailure {
  if (answer.isOk) throw new Error(`it succeeded: ${JSON.stringify(answer.value)}`);
  return answer;
}
