import assert from 'node:assert/strict';
import type { Answer } from './client.ts';

/** The origin of the test app's own pages: its `PUBLIC_URL`. */
const OWN_ORIGIN = 'http://quayside.test';

/** Headers by which a browser sends its cookies from a page of the service. */
export const fromOwnPage = (...cookies: string[]): Record<string, string> => ({
  cookie: cookies.join('; '),
  origin: OWN_ORIGIN,
});

/** The cookie of a reply, `name=value` as it goes back. Fails when the reply sets none of the name. */
export function cookieOf({ headers }: Pick<Answer, 'headers'>, name: string): string {
  const found = headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`));
  assert.ok(found, `the reply sets no cookie ${name}`);
  return found.split(';')[0] ?? '';
}
