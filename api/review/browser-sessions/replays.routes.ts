import { z } from 'zod';
import {
  listPages,
  noteOpened,
  readPlaylist,
  recordingOf,
  replayError,
} from '../../../domain/review/browser-sessions/recordings/replays.mutations.ts';
import { openReference } from '../../../domain/review/browser-sessions/recordings/replay-references.ts';
import { RECORDING_STATES } from '../../../domain/review/browser-sessions/session-rules.ts';
import { type SessionRow, sessionById } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, Id } from '../../http/parameters.ts';
import { RawReply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import { PLAYLIST_TYPE, playlistReply, replayUrl, segmentReply } from './replay-replies.ts';

const GROUP = 'Browser sessions';
const PageId = z
  .string()
  .regex(/^\d{1,3}$/)
  .meta({ description: 'Number of the tab, from 0 on', example: '0' });

const ReplaysOut = z
  .object({
    state: z.enum(RECORDING_STATES),
    pageCount: z.int(),
    pages: z.array(
      z.object({
        pageId: PageId,
        title: z.string(),
        startTimeMs: z.number().meta({ description: 'When the first picture was taken, in milliseconds of the epoch' }),
        endTimeMs: z.number().nullable().meta({ description: 'Null while it goes on' }),
        url: z.url().meta({ description: 'Address of the HLS playlist, which takes the same credential' }),
      }),
    ),
  })
  .meta({ id: 'BrowserReplays' });

const LISTING = {
  group: GROUP,
  description:
    'A page per tab that was open. `state`: `none`, `recording`, `processing`, `ready`, `partial` (something is missing), or `expired`. A local browser is recorded from behind the front door on, a hosted one from its creation on.',
  roles: ANY_ROLE,
  projectScope: 'row',
  status: 200,
  response: ReplaysOut,
  errors: ['upstream_error', 'upstream_timeout'],
} as const;

const PLAYLIST = {
  group: GROUP,
  description:
    'Each address in it is a reference for the route of segments, and needs the same credential; it is valid for some hours, and for this page alone. That of a live local session grows. 409 `in_progress` while there is none yet, 404 when the recording has been removed. That somebody opened it is noted at most once an hour.',
  roles: ANY_ROLE,
  projectScope: 'row',
  status: 200,
  response: z.instanceof(RawReply),
  contentTypes: [PLAYLIST_TYPE],
  audit: 'browser_session.replay_opened',
  errors: ['in_progress', 'upstream_error', 'upstream_timeout'],
} as const;

async function listing({ adapters, actor, publicUrl, gone }: Scope, session: SessionRow) {
  const pages = await listPages(adapters.browsers.recordings, actor.tenantId, session, gone());
  return {
    state: session.recordingState,
    pageCount: pages.length,
    pages: pages.map((page) => ({ ...page, url: replayUrl({ publicUrl }, session.id, page.pageId) })),
  };
}

async function playlist(scope: Scope, session: SessionRow, pageId: string): Promise<RawReply> {
  const { adapters, actor, reads, tx, gone } = scope;
  const { tenantId, email } = actor;
  const read = await readPlaylist(adapters.browsers.recordings, tenantId, session, pageId, gone());
  await noteOpened(tx, reads, session, { pageId, email });
  return playlistReply(scope, { tenantId, sessionId: session.id, pageId }, read);
}

/** Throws `not_found` for a session of another environment, too. */
async function sessionOf(reads: Scope['reads'], { envId, sessionId }: { envId: string; sessionId: string }) {
  const session = await sessionById(reads, sessionId);
  if (session.environmentId !== envId) throw notFound('The browser session');
  return session;
}

export const browserReplaysRoutes = [
  defineRoute({
    ...LISTING,
    operationId: 'listBrowserReplays',
    method: 'get',
    path: '/api/browser-sessions/{id}/replays',
    summary: 'List what is recorded of a session',
    params: byId,
    handle: async ({ params: { id } }, scope) => listing(scope, await sessionById(scope.reads, id)),
  }),

  defineRoute({
    ...PLAYLIST,
    operationId: 'getBrowserReplayPlaylist',
    method: 'get',
    path: '/api/browser-sessions/{id}/replays/{pageId}',
    summary: 'Fetch the playlist of a tab (HLS)',
    params: z.object({ id: Id, pageId: PageId }),
    handle: async ({ params: { id, pageId } }, scope) => playlist(scope, await sessionById(scope.reads, id), pageId),
  }),

  defineRoute({
    operationId: 'getBrowserReplaySegment',
    method: 'get',
    path: '/api/browser-sessions/{id}/replays/{pageId}/segment',
    group: GROUP,
    summary: 'Fetch a part of a recording',
    description:
      'The segment or playlist that a reference of the playlist stands for; takes `Range`. A reference that is altered, expired, or of another page gets 404. Content that is neither video nor sound nor playlist, or larger than 64 MB, gets 502.',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: z.object({ id: Id, pageId: PageId }),
    query: z.strictObject({ u: z.string().min(1).max(8_000) }),
    headers: z.object({ range: z.string().max(200).optional() }),
    status: 200,
    otherStatuses: [206],
    response: z.instanceof(RawReply),
    contentTypes: ['video/mp4', 'application/octet-stream', PLAYLIST_TYPE],
    errors: ['in_progress', 'range_not_satisfiable', 'upstream_error', 'upstream_timeout'],
    async handle({ params: { id, pageId }, query: { u }, headers: { range } }, scope) {
      const { reads, adapters, actor, now, gone } = scope;
      const session = await sessionById(reads, id);
      const page = { tenantId: actor.tenantId, sessionId: id, pageId };
      const address = openReference(adapters.encryption, page, u, now());
      if (address === undefined) throw notFound('The part of the recording');
      const { ref, source } = recordingOf(adapters.browsers.recordings, actor.tenantId, session);
      const answer = await source.segment(ref, address, range ?? null, gone());
      if (!answer.isOk) throw replayError(answer);
      return segmentReply(scope, page, answer.value);
    },
  }),

  defineRoute({
    ...LISTING,
    operationId: 'listEnvironmentBrowserReplays',
    method: 'get',
    path: '/api/environments/{envId}/browser/replay/{sessionId}',
    summary: "List what is recorded of an environment's session",
    params: z.object({ envId: Id, sessionId: Id }),
    handle: async ({ params }, scope) => listing(scope, await sessionOf(scope.reads, params)),
  }),

  defineRoute({
    ...PLAYLIST,
    operationId: 'getEnvironmentBrowserReplayPlaylist',
    method: 'get',
    path: '/api/environments/{envId}/browser/replay/{sessionId}/{pageId}',
    summary: "Fetch the playlist of a tab of an environment's session (HLS)",
    params: z.object({ envId: Id, sessionId: Id, pageId: PageId }),
    handle: async ({ params: { pageId, ...params } }, scope) =>
      playlist(scope, await sessionOf(scope.reads, params), pageId),
  }),
];
