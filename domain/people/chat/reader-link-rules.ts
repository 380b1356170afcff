import { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import { link } from './message-rules.ts';

/**
 * Where a message leads its reader; members of the data are in braces. `page`: a page of this service, which asks those to
 * sign in who have not. `member`: a member that holds an address elsewhere. `call`: no page shows the thing, so the
 * message names the request that answers it, and links its entry in the reference.
 */
export type ReaderLink =
  | { page: string; label?: string }
  | { member: string; label?: string }
  | { call: string; group: string; operationId: string };

/** Slack takes at most 2,000 characters in a field, of which the address is to leave some. */
const ADDRESS_MAX = 1_500;

/** The first of these links that has all its members, in Slack's markup; empty when none has. */
export function readerLink(links: readonly ReaderLink[], data: unknown, publicUrl: string): string {
  const given = new UntrustedJson(data);
  for (const each of links) {
    const shown = linkOf(each, given, publicUrl);
    if (shown !== undefined) return shown;
  }
  return '';
}

function linkOf(each: ReaderLink, given: UntrustedJson, publicUrl: string): string | undefined {
  if ('member' in each) return addressedLink(given.at(each.member).link(), each.label ?? 'Details');
  const path = filled('call' in each ? each.call : each.page, given);
  if (path === undefined) return undefined;
  if (!('call' in each)) return link(publicUrl + path, each.label ?? 'Details');
  const { group, operationId } = each;
  return link(`${publicUrl}/docs#/${encodeURIComponent(group)}/${operationId}`, `GET ${path}`);
}

/** A link to an address from outside; undefined where it is none, or too long. */
export function addressedLink(address: string | null | undefined, label: string): string | undefined {
  const href = address ? URL.parse(address)?.href.replaceAll(/[<>|]/g, encodeURIComponent) : undefined;
  return href === undefined || href.length > ADDRESS_MAX ? undefined : link(href, label);
}

/** Undefined where a member that it needs is absent. */
function filled(template: string, given: UntrustedJson): string | undefined {
  let isComplete = true;
  const path = template.replaceAll(/\{(\w+)\}/g, (_, member: string) => {
    const value = given.at(member).text();
    isComplete &&= value !== null;
    return encodeURIComponent(value ?? '');
  });
  return isComplete ? path : undefined;
}
