import { once } from 'node:events';
import type { SessionOwner } from '../../domain/review/browser-sessions/browser-provider.port.ts';
import { startRecorder } from '../../activities/browser-host/recording/recorder.ts';
import { activityDeps } from './activities.ts';
import { FakeSessionBrowser } from './fake-session-browser.ts';
import { engineAway } from './launch.ts';
import { animate, drawPictures, encoder } from './recordings.ts';

/**
 * Records a browser that is none, until its input ends: `recording-host.ts <owner as JSON> <folder>`. It is given the app
 * by its environment.
 */
const [owner = '{}', folder = ''] = process.argv.slice(2);
const { deps, close } = activityDeps({ env: process.env as Record<string, string>, launch: engineAway });
const browser = new FakeSessionBrowser(JSON.parse(owner) as SessionOwner);
const recorder = startRecorder(browser, { ...deps, encoder: encoder(), folder });
const stop = animate(browser, 0, drawPictures());
process.stdin.resume();
await once(process.stdin, 'end');
stop();
await recorder.finish();
await close();
