import type { ServerResponse } from 'node:http';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';

/** Aborts when the client leaves before it has the whole answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const abort = () => {
    if (!response.writableFinished) gone.abort(new DomainError('invalid_request', 'The client left before the answer'));
  };
  if (response.closed) abort();
  else response.once('close', abort);
  return gone.signal;
}
