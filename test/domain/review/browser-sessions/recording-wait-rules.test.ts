import type { Replays } from '../../../../domain/review/browser-sessions/browser-provider.port.ts';
import { providerFailure } from '../../../../domain/review/browser-sessions/provider-failure-rules.ts';
import {
  lookAgainMs,
  whyNoRecording,
} from '../../../../domain/review/browser-sessions/recordings/recording-wait-rules.ts';

const processing: { isOk: true; value: Replays } = {
  isOk: true,
  value: { state: 'processing', pages: [], bytes: 0, reason: null },
};
const none = providerFailure('in_progress', 'It has no recording');

test.each([
  ['no provider', undefined, 0, 'Its provider is not set up any more.'],
  ['a session that is not known any more', providerFailure('not_found', 'Gone'), 0, 'Gone'],
  ['a credential that is refused', providerFailure('auth_failed', 'Refused'), 0, 'Refused'],
  ['a recording that is not there yet', none, 45_000, undefined],
  ['a recording that is gone', none, 45_001, 'It has no recording'],
  ['a long one that is put in order', processing, 600_000, undefined],
  ['one that is never put in order', processing, 600_001, 'The recording was not there in time.'],
  ['a provider that is away', providerFailure('unavailable', 'Away'), 600_000, undefined],
  ['a provider that stays away', providerFailure('timeout', 'Away'), 600_001, 'Away'],
])('of %s it is said in words why there is none', (_, found, waitedMs, why) => {
  expect(whyNoRecording(found, waitedMs)).toBe(why);
});

test('a recording that is gone is known to be within a minute, whenever its provider was asked last', () => {
  const lastLookMs = Math.max(...Array.from({ length: 100 }, (_, attempt) => lookAgainMs(attempt + 1)));
  const latestMs = Array.from({ length: lastLookMs }, (_, late) => 45_001 + late);
  expect(latestMs.every((waitedMs) => waitedMs <= 60_000 && whyNoRecording(none, waitedMs) !== undefined)).toBe(true);
});
