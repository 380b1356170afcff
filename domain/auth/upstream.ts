import { DomainError } from '../shared/errors.ts';

/** An external system that did not do its part. @param system as the sentence begins with it: `host-a`. */
export const upstreamFailed = (system: string, reason: 'timeout' | 'error'): DomainError =>
  reason === 'timeout'
    ? new DomainError('upstream_timeout', `${system} did not answer in time`)
    : new DomainError('upstream_error', `${system} is not reachable or gave no usable answer`);
