import { createHostTokens, type HostTokens } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import { createFindLiveAccess, type FindLiveAccess } from '../../domain/review/browser-sessions/live/live-access.ts';
import {
  createLiveLinkTokens,
  type LiveLinkTokens,
} from '../../domain/review/browser-sessions/live/live-link-tokens.ts';
import type { Recordings } from '../../domain/review/browser-sessions/recordings/replays.mutations.ts';
import { createRuleCache, type RuleCache } from '../../domain/review/review-rules/rule-cache.ts';
import type { ApiBase } from '../base.ts';
import type { Slots } from '../../domain/kernel/queues/slots.ts';
import { createSocketSlots } from '../http/sockets/socket-slots.ts';

export interface ReviewAdapters {
  browsers: {
    recordings: Recordings;
    /** How long a reference in a playlist is valid at least. */
    replayLinkHours: number;
    /** Local ones that are provisioning or live at the same time. */
    sessionsPerTenant: number;
    hostTokens: HostTokens;
    liveLinkTokens: LiveLinkTokens;
    findLiveAccess: FindLiveAccess;
    /** Which the sockets of this process have, too. */
    socketSlots: Slots;
  };
  reviewRules: RuleCache;
}

declare module '../http/scope.ts' {
  interface Adapters extends ReviewAdapters {}
}

export function createReviewAdapters({ backend: { reads, recordings, now }, config, ring }: ApiBase): ReviewAdapters {
  const liveLinkTokens = createLiveLinkTokens(ring, config.publicUrl);
  return {
    browsers: {
      recordings,
      replayLinkHours: config.REPLAY_LINK_HOURS,
      sessionsPerTenant: config.BROWSER_SESSIONS_PER_TENANT,
      hostTokens: createHostTokens(ring, config.publicUrl),
      liveLinkTokens,
      findLiveAccess: createFindLiveAccess({ reads, tokens: liveLinkTokens, now }),
      socketSlots: createSocketSlots(),
    },
    reviewRules: createRuleCache(),
  };
}
