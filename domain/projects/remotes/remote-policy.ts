import type { OutboundAddresses } from '../../kernel/outbound/outbound-addresses.ts';
import { type ParsedRemote, parseGitRemote } from './git-remote-rules.ts';

/** Which remotes the service may read. */
export interface RemotePolicy {
  addresses: OutboundAddresses;
  /** Paths on this machine are permitted. */
  allowLocal: boolean;
}

/** Decides on a remote as far as is known before its host is resolved. */
export function permittedRemote(text: string, { addresses, allowLocal }: RemotePolicy): ParsedRemote {
  const parsed = parseGitRemote(text);
  if (!parsed.isOk) return parsed;
  const { remote } = parsed;
  if (remote.transport === 'file') {
    return allowLocal ? parsed : { isOk: false, reason: 'Paths on this machine are not allowed as remotes' };
  }
  const refusal = addresses.refusedHost(remote.host);
  return refusal === undefined ? parsed : { isOk: false, reason: refusal };
}
