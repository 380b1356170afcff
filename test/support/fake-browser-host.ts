import { newId } from '../../domain/shared/ids.ts';
import { startBrowserHost } from './browser-sessions.ts';
import { FakeBrowsers } from './fake-browsers.ts';
import { engineAway } from './launch.ts';

/** A host of browsers that are none, as a process which a test can kill; it is given the app by its environment. */
const { QS_TEST_QUEUE_PREFIX: queuePrefix = '' } = process.env;
await startBrowserHost(
  { env: process.env as Record<string, string>, queuePrefix, launch: engineAway },
  new FakeBrowsers('local'),
  { id: newId(), queue: `browser-host-${newId()}`, name: 'host-2' },
);
process.send?.('ready');
