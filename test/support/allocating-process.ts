import { startLocalBrowser } from './local-browsers.ts';

/** A process with a browser, which a test kills. Its argument is the isolation. */
const isolation = process.argv[2] === 'sandboxed' ? 'sandboxed' : 'jailed';
const { pid } = await startLocalBrowser({}, { isolation });
process.send?.({ pid });
