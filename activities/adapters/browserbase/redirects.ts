import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

const REDIRECT = new Set([301, 302, 303, 307, 308]);
const REDIRECTS_MAX = 3;

/** An answer, and the address that gave it, after redirects. */
export interface Reached {
  response: Dispatcher.ResponseData;
  address: string;
}

/**
 * Asks an address, and whatever it redirects to. Undefined: a redirect leads to no address, or there are more than three.
 * @param ask asks one address, or throws where that may not be asked.
 */
export async function followingRedirects(
  first: string,
  ask: (address: string) => Promise<Dispatcher.ResponseData>,
): Promise<Reached | undefined> {
  let address = first;
  for (let redirects = 0; ; redirects++) {
    const response = await ask(address);
    const location = headerOf(response, 'location');
    if (!REDIRECT.has(response.statusCode) || location === undefined) return { response, address };
    discard(response.body);
    const next = URL.parse(location, address);
    if (!next || redirects === REDIRECTS_MAX) return undefined;
    address = next.href;
  }
}

/** The first value of a header. */
export const headerOf = ({ headers }: Pick<Dispatcher.ResponseData, 'headers'>, name: string): string | undefined =>
  [headers[name]].flat()[0];

/** An answer that nobody reads is an error of its stream. */
export const discard = (body: Readable): void => {
  body.on('error', () => undefined).destroy();
};
