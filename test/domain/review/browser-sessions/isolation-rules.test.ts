import { ISOLATIONS, type Isolation } from '../../../../domain/kernel/settings/isolation-rules.ts';
import {
  claimedIsolation,
  refusedIsolation,
} from '../../../../domain/review/browser-sessions/hosts/isolation-rules.ts';

/** Which of `jailed`, `sandboxed` and `none` may allocate browsers. */
test.each<[boolean, Isolation | undefined, boolean[]]>([
  [true, undefined, [true, false, false]],
  [true, 'jailed', [true, false, false]],
  [true, 'sandboxed', [true, true, false]],
  [true, 'none', [true, true, false]],
  [false, undefined, [true, true, true]],
  [false, 'jailed', [true, false, false]],
  [false, 'sandboxed', [true, true, false]],
  [false, 'none', [true, true, true]],
])('in production: %s, BROWSER_ISOLATION: %s', (isProduction, weakest, may) => {
  expect(ISOLATIONS.map((possible) => refusedIsolation(possible, { weakest, isProduction }) === undefined)).toEqual(
    may,
  );
});

test('a refusal says what to change', () => {
  expect(refusedIsolation('sandboxed', { weakest: undefined, isProduction: true })).toBe(
    'Browsers on this machine would be only sandboxed; BROWSER_ISOLATION allows no less than jailed.',
  );
});

test.each<[boolean, Isolation[]]>([
  [true, ['jailed', 'sandboxed', 'none']],
  [false, ['jailed', 'none', 'none']],
])('a browser with a user of its own (%s) is said to be kept in by no more than it is', (hasOwnUser, claimed) => {
  expect(ISOLATIONS.map((startedAs) => claimedIsolation(startedAs, { hasOwnUser }))).toEqual(claimed);
});
