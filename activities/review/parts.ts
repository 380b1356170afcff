import type { BrowserProvider } from '../../domain/review/browser-sessions/browser-provider.port.ts';
import type { PlayRecording } from '../../domain/review/browser-checks/recording-player.port.ts';
import { createHostTokens, type HostTokens } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import type { Recordings } from '../../domain/review/browser-sessions/recordings/replays.mutations.ts';
import { createBrowserbaseAccess } from '../adapters/browserbase/browserbase-access.ts';
import { createBrowserbase } from '../adapters/browserbase/browserbase.ts';
import { playRecording } from '../adapters/devtools/recording-player.ts';
import { createTokenRing } from '../../domain/kernel/encryption/token-ring.ts';
import type { Base, Made } from '../base.ts';
import type { MockParts } from '../mocks/parts.ts';
import type { SessionProviders } from './browser-sessions/browser-sessions.activities.ts';

export interface ReviewParts {
  browserbase: BrowserProvider;
  recordings: Recordings;
}

export function createReviewParts(
  { config, hosts, actingAs, encryption, now }: Base & Pick<MockParts, 'hosts'>,
  localRecordings: Recordings['local'],
): Made<ReviewParts> {
  const browserbase = createBrowserbase({
    outbound: hosts,
    accessOf: createBrowserbaseAccess({ actingAs, encryption, now }),
    now,
    timeoutMs: config.BROWSER_PROVIDER_TIMEOUT_SECONDS * 1_000,
    pace: config.SERVICE_PACE,
  });
  return {
    parts: { browserbase, recordings: { browserbase, local: localRecordings } },
    close: browserbase.close,
  };
}

export interface ReviewWork {
  browsers: SessionProviders & {
    /** For how many days recordings are kept. */
    recordingDays: number;
    sessionsPerTenant: number;
    hostTokens: Pick<HostTokens, 'sign'>;
    playRecording: PlayRecording;
  };
}

export const createReviewWork = ({
  config,
  keys,
  publicUrl,
  browserbase,
  recordings,
}: Pick<Base, 'config' | 'keys' | 'publicUrl'> & ReviewParts): Made<ReviewWork> => ({
  parts: {
    browsers: {
      find: (name) => (name === 'browserbase' ? browserbase : undefined),
      findReplays: (name) => (name === 'external' ? undefined : recordings[name]),
      recordingDays: config.BROWSER_RECORDING_DAYS,
      sessionsPerTenant: config.BROWSER_SESSIONS_PER_TENANT,
      hostTokens: createHostTokens(createTokenRing(keys.tokenKeys), publicUrl),
      playRecording,
    },
  },
});
