import type { Encryption } from '../shared/encryption.ts';

/** What a reference belongs to: it opens nothing for another tenant, session or page. */
export interface ReplayPage {
  tenantId: string;
  sessionId: string;
  pageId: string;
}

/** References last until a full hour, so that a playlist that is read again holds the same ones. */
const HOUR_S = 3_600;

/** When references that are made now expire, in seconds of the epoch: `hours` to `hours` + 1 from now. */
export const referencesExpireAt = (now: Date, hours: number): number =>
  (Math.ceil(now.getTime() / 1000 / HOUR_S) + hours) * HOUR_S;

/**
 * A reference to an address of a recording, base64url: encrypted, so that signed addresses of the provider are not shown,
 * and authenticated. The same address gives the same reference until the hour ends, as RFC 8216 (6.2.1) wants of the lines
 * of a growing playlist.
 */
export const referenceTo = (encryption: Encryption, page: ReplayPage, address: string, expiresAtS: number): string =>
  Buffer.from(encryption.encryptStably(`${expiresAtS} ${address}`, contextOf(page))).toString('base64url');

/** The address of a reference, which has one spelling; undefined when it is altered, expired, or of another tenant, session or page. */
export function openReference(
  encryption: Encryption,
  page: ReplayPage,
  reference: string,
  now: Date,
): string | undefined {
  try {
    const sealed = Buffer.from(reference, 'base64url');
    if (sealed.toString('base64url') !== reference) return undefined;
    const opened = encryption.decrypt(sealed.toString(), contextOf(page));
    const [, expiresAtS = '0', address] = /^(\d+) (.*)$/s.exec(opened) ?? [];
    return Number(expiresAtS) * 1000 > now.getTime() ? address : undefined;
  } catch {
    return undefined;
  }
}

const contextOf = ({ tenantId, sessionId, pageId }: ReplayPage): string =>
  `browser-replay:${tenantId}:${sessionId}:${pageId}`;
