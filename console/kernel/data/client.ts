import { createClient } from '@quayside/client';

/** Path of the console, with a slash at its end: the service writes it into the page. */
export const CONSOLE_PATH: string = new URL(document.baseURI).pathname;

/** Path below which the service is served; empty for the root. */
export const BASE_PATH: string = CONSOLE_PATH.replace(/\/console\/$/, '');

/** The client of all pages: the browser's session cookie is its credential. */
export const client = createClient({ url: location.origin + BASE_PATH });
