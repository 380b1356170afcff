import { join } from 'node:path';
import * as workflows from '../../workflows/index.ts';
import { replayFile } from '../support/histories.ts';
import { histories, RELEASE_FOLDER } from './old-release.ts';

/**
 * Records 1.0.0 anew, which ends when it is installed somewhere: `RECORD_RELEASE=1 npm test -- test/upgrade/replay -t records`.
 */
if (process.env.RECORD_RELEASE)
  test('records the release', async () => (await import('./record-release.ts')).recordRelease(), 600_000);

test.each(histories())('what 1.0.0 left under way goes on with the code of today: %s', (name) =>
  replayFile(join(RELEASE_FOLDER, 'histories', `${name}.json`)),
);

/** These wait for nothing, so that an upgrade hardly ever meets them; `test/workflows/histories` has them where they branch. */
const ENDS_AT_ONCE: ReadonlySet<string> = new Set(['nightlyAnalysis', 'scheduledFlow', 'workItemReport']);

/** Came after 1.0.0. */
const NEWER: ReadonlySet<string> = new Set(['verification']);

test('every workflow of 1.0.0 that waits has a history of it', () => {
  const kept = new Set(histories().map((name) => name.replace(/-.*/, '')));
  const missing = Object.keys(workflows).filter(
    (name) => !kept.has(name) && !ENDS_AT_ONCE.has(name) && !NEWER.has(name),
  );
  expect(missing).toEqual([]);
});
