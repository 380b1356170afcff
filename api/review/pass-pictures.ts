import { type IncomingMessage, request as httpRequest } from 'node:http';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import type { PassedTo } from '../http/sockets/pass-socket.ts';

const ANSWER_MS = 5_000;

/**
 * What another server of ours answers, as it arrives; destroy it when nobody reads it. Rejects with `DomainError`.
 */
export function passPictures({ address, token }: PassedTo): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = httpRequest(address, { agent: false, headers: { Authorization: `Bearer ${token}` } });
  const late = setTimeout(() => asked.destroy(), ANSWER_MS);
  asked.once('response', (answer) => {
    clearTimeout(late);
    if (answer.statusCode === 200) resolve(answer);
    else {
      asked.destroy();
      reject(
        answer.statusCode === 404
          ? new DomainError('not_found', 'The session does not run any more')
          : new DomainError('upstream_error', 'The host of the browser failed'),
      );
    }
  });
  asked.on('error', () => {
    clearTimeout(late);
    reject(new DomainError('upstream_error', 'The host of the browser cannot be reached'));
  });
  asked.end();
  return promise;
}
