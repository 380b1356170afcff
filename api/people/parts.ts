import { ATTENTION } from '../../domain/areas.ts';
import type { ApiBase } from '../base.ts';
import { API_VERSION } from '../http/openapi/openapi.ts';
import type { AnyRoute } from '../http/define-route.ts';
import { type AttentionActions, attentionActions } from './attention/attention-actions.ts';
import { ChangeStreams } from './changes/change-streams.ts';
import { topicAccess } from './changes/topic-readers.ts';

export interface PeopleAdapters {
  attention: AttentionActions;
  changes: ChangeStreams;
}

declare module '../http/scope.ts' {
  interface Adapters extends PeopleAdapters {}
}

/** Proxies close connections on which nothing comes for a minute. */
const HEARTBEAT_MS = 25_000;
/** How soon a stream ends whose opener may have it no more. */
const CHECK_EVERY_MS = 30_000;

/** @param routes all of the API: who may call one is told of what it shows. */
export const createPeopleAdapters = (
  { backend: { access, onConnectionLost }, config: { SERVICE_PACE: pace }, database }: ApiBase,
  routes: readonly AnyRoute[],
): PeopleAdapters => {
  const attention = attentionActions(routes, ATTENTION);
  return {
    attention,
    changes: new ChangeStreams({
      access,
      database,
      accessTo: topicAccess(routes, attention),
      api: API_VERSION,
      heartbeatMs: HEARTBEAT_MS * pace,
      checkEveryMs: CHECK_EVERY_MS * pace,
      onLost: onConnectionLost,
    }),
  };
};
