import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { RawReply } from '../../http/replies.ts';
import { BYE_REASONS, FRAME_EVERY_MS, FRAME_MAX, RESET_REASONS, RETRY_MAX_MS } from './change-stream.ts';
import { STREAMS_MAX, STREAMS_PER_CALLER } from './change-streams.ts';
import { ChangesFrame, ChangesHeaders, ChangesQuery } from './changes.schemas.ts';

const quoted = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

export const changesRoutes = [
  defineRoute({
    operationId: 'streamChanges',
    method: 'get',
    path: '/api/changes',
    group: 'Changes',
    summary: 'Follow what changes, as server-sent events',
    description: [
      'Names what changed and never how: ask the ordinary routes again. Callers are told of what they may read, an application token that is limited to projects only of what names one of these, and of its collections.',
      `- \`hello\` \`{id, heartbeatSeconds, api}\` comes first. \`changes\` is an array of at most ${FRAME_MAX} \`{topic, id, repositoryIdentifier}\`, each once; between two events are at least ${FRAME_EVERY_MS} ms. Comments come in between, so that a connection that is gone is found out.\n- \`reset\` \`{reason}\`: changes may have been missed; ask again for everything that you show. Reasons: ${quoted(RESET_REASONS)}.\n- \`bye\` \`{reason, retryWithinMs}\`: the stream ends, and is opened again after a time at random within ${RETRY_MAX_MS / 1_000} s. Reasons: ${quoted(BYE_REASONS)}.`,
      'Ids are `<epoch>-<n>`: a stream that comes back with `Last-Event-ID` goes on from there where the process still remembers it, and gets `reset` where not. `n` counts all changes of the tenant, so that ids tell how many there are; callers that are not told of all get ids with events alone, others also with comments.',
      `A caller has at most ${STREAMS_PER_CALLER} streams in a process, which has ${STREAMS_MAX.toLocaleString('en')}: more get 503. A client that does not read loses its stream. Browsers without HTTP/2 have six connections to an origin: share one stream between tabs.`,
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ChangesQuery,
    headers: ChangesHeaders,
    status: 200,
    response: ChangesFrame,
    contentTypes: ['text/event-stream'],
    async handle({ query: { topics, repositoryIdentifier }, headers }, { actor, adapters, reads }) {
      if (repositoryIdentifier !== undefined) await projectInRequest(reads, repositoryIdentifier);
      const stream = await adapters.changes.open(actor, {
        topics: topics.length === 0 ? undefined : topics,
        repositoryIdentifier,
        lastEventId: headers['last-event-id'] ?? '',
      });
      return new RawReply('text/event-stream', stream, { 'X-Accel-Buffering': 'no' });
    },
  }),
];
