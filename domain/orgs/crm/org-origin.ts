import type { HostAddresses } from '../../mocks/serving/own-mocks.ts';
import { isLoopbackHost } from '../../kernel/outbound/host-rules.ts';
import { type ParsedAuthUrl, parseAuthUrl } from './auth-url-rules.ts';

export type PermittedOrigin =
  | { isOk: true; origin: string }
  | { isOk: false /** Completes "the address …". */; reason: string };

/**
 * The origin of an org or login host, where the service may call it: https, or http on this machine when `OUTBOUND_ALLOW`
 * opens it. Nothing but an origin is taken, with at most a slash behind it; or the address of a mock workspace of the
 * service, with its path.
 */
export function permittedOrigin(url: string, addresses: HostAddresses): PermittedOrigin {
  const refusal = addresses.refusedUrl(url);
  if (refusal !== undefined) return { isOk: false, reason: `is refused: ${refusal}` };
  const { origin, protocol, hostname, pathname, search, hash } = new URL(url);
  if (addresses.findOwn?.(url) && search === '' && hash === '')
    return { isOk: true, origin: origin + pathname.replace(/\/$/, '') };
  if (url.replace(/\/$/, '').toLowerCase() !== origin) return { isOk: false, reason: 'is not that of a host alone' };
  if (protocol === 'http:' && !isLoopbackHost(hostname)) return { isOk: false, reason: 'is not https' };
  return { isOk: true, origin };
}

/** An auth URL whose host may be called, as far as is known before it is resolved. */
export function permittedAuthUrl(text: string, addresses: HostAddresses): ParsedAuthUrl {
  const parsed = parseAuthUrl(text);
  if (!parsed.isOk) return parsed;
  const permitted = permittedOrigin(parsed.authUrl.loginUrl, addresses);
  return permitted.isOk ? parsed : { isOk: false, reason: `The host of the auth URL ${permitted.reason}` };
}
