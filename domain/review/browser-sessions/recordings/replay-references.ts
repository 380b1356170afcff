import { exactBase64url } from '../../../kernel/shared/base64url-rules.ts';
import type { Encryption } from '../../../kernel/encryption/encryption.ts';
import { FILE_NAME, ownAddress, readOwnAddress } from '../hosts/own-address-rules.ts';

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

/** Between what grants the files of a page and the name of one. */
const OF_FILE = '~';

/**
 * References to the addresses of a playlist of a page, each authenticated. An address of a provider is encrypted, so that its
 * signature is not shown, and is base64url; one grant holds for all of our own files of the page. The same playlist gives the
 * same references until the hour ends; one of our own files does so also when it has grown, as RFC 8216 (6.2.1) wants.
 */
export function referencesOf(
  encryption: Encryption,
  page: ReplayPage,
  expiresAtS: number,
  addresses: readonly string[],
): string[] {
  const files = addresses.map((address) => {
    const file = readOwnAddress(address);
    return file?.pageId === page.pageId ? file.fileName : undefined;
  });
  const elsewhere = addresses.filter((_, place) => files[place] === undefined);
  const sealed = encryption
    .encryptAllStably(
      elsewhere.map((address) => `${expiresAtS} ${address}`),
      contextOf(page),
    )
    .values();
  const grant = elsewhere.length < files.length ? encryption.encryptStably(String(expiresAtS), filesOf(page)) : '';
  return files.map((name) =>
    name === undefined ? base64url(sealed.next().value ?? '') : `${grant}${OF_FILE}${base64url(name)}`,
  );
}

/** The address of a reference, which has one spelling; undefined when it is altered, expired, or of another tenant, session or page. */
export function openReference(
  encryption: Encryption,
  page: ReplayPage,
  reference: string,
  now: Date,
): string | undefined {
  try {
    const [grant = '', file, ...more] = reference.split(OF_FILE);
    if (file !== undefined) {
      const fileName = exactBase64url(file)?.toString();
      const expiresAtS = encryption.decrypt(grant, filesOf(page));
      const isOne = more.length === 0 && FILE_NAME.test(fileName ?? '') && Number(expiresAtS) * 1000 > now.getTime();
      return isOne && fileName !== undefined ? ownAddress(page.pageId, fileName) : undefined;
    }
    const opened = encryption.decrypt(exactBase64url(reference)?.toString() ?? '', contextOf(page));
    const [, expiresAtS = '0', address] = /^(\d+) (.*)$/s.exec(opened) ?? [];
    return Number(expiresAtS) * 1000 > now.getTime() ? address : undefined;
  } catch {
    return undefined;
  }
}

const contextOf = ({ tenantId, sessionId, pageId }: ReplayPage): string =>
  `browser-replay:${tenantId}:${sessionId}:${pageId}`;

const filesOf = (page: ReplayPage): string => `${contextOf(page)}:files`;

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
