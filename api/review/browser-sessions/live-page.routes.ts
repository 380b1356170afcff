import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { LiveAccess } from '../../../domain/review/browser-sessions/live/live-access.ts';
import { hasEnded, isLive } from '../../../domain/review/browser-sessions/session-rules.ts';
import { subjectOf } from '../../../domain/review/browser-sessions/session-announcements.ts';
import type { SessionRow } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { notFound } from '../../../domain/kernel/shared/errors.ts';
import { isId } from '../../../domain/kernel/shared/ids.ts';
import { definePublicRoute } from '../../http/define-route.ts';
import { basePathOf, htmlReply } from '../../http/server/html-page.ts';
import { NoContent } from '../../http/parameters.ts';
import { passPictures } from '../pass-pictures.ts';
import { takeSocket } from '../../http/sockets/socket-slots.ts';
import { RawReply, reply } from '../../http/replies.ts';
import type { PublicScope } from '../../http/scope.ts';
import { admission, linksIn, withLink } from './live-admission.ts';
import { LIVE_ASSETS, livePage, type LivePageView, noSessionPage } from './live-page.ts';
import { LivePageQuery, LiveState } from './live.schemas.ts';
import { livePathOf } from './session-view.ts';

const GROUP = 'Browser sessions';
const COOKIE_SECONDS = 3_600;
const RECHECK_MS = 2_000;
const PROVIDER_MS = 5_000;

/** The parameter is not parsed as an id, so that visitors who are not signed in cannot tell malformed ids from unknown ones. */
const ofSession = z.object({ id: z.string().max(100) });

const callerOf = async ({ caller, cookies }: PublicScope) => ({
  actor: await caller(),
  links: linksIn(cookies.get('qs_live')),
});

async function accessOf(id: string, scope: PublicScope): Promise<LiveAccess | undefined> {
  return isId(id) ? scope.adapters.browsers.findLiveAccess(id, await callerOf(scope)) : undefined;
}

const viewKind = ({ provider }: SessionRow) =>
  provider === 'local' ? 'own' : provider === 'external' ? 'link' : 'frame';

/** How the page shows a session. A hosted browser is shown only to people who may control it, since its frame takes input. */
async function viewOf({ session, viewer }: LiveAccess, { adapters }: PublicScope): Promise<LivePageView> {
  const { provider, status } = session;
  if (provider === 'external') {
    const { liveViewUrl } = session;
    return liveViewUrl === null
      ? { kind: 'none', why: 'The worker that runs it has not said where it is shown.' }
      : { kind: 'link', url: liveViewUrl };
  }
  if (provider === 'local' || !isLive(status)) return { kind: 'own' };
  // That address is a credential which no revocation ends.
  if (viewer.linkId !== null)
    return { kind: 'none', why: 'Its provider shows it to people who are signed in here, and to nobody by a link.' };
  if (viewer.may !== 'control')
    return {
      kind: 'none',
      why: 'The provider of this browser shows it only to people who may control the session; you may only watch.',
    };
  const ref = {
    tenantId: viewer.actor.tenantId,
    sessionId: session.id,
    projectId: session.projectId,
    providerSessionId: session.providerSessionId,
  };
  const answer = await adapters.browsers.recordings[provider].liveView(ref, AbortSignal.timeout(PROVIDER_MS));
  if (!answer.isOk || answer.value.kind !== 'frame')
    return { kind: 'none', why: 'Its provider does not show it now. Load this page again in a while.' };
  return { kind: 'frame', url: answer.value.url };
}

const mjpegView = ({ status }: SessionRow): LivePageView => ({
  kind: 'mjpeg',
  isLive: isLive(status),
  state: hasEnded(status) ? 'The session has ended' : 'The browser is starting',
});

export const livePageRoutes = [
  definePublicRoute({
    operationId: 'getLivePage',
    method: 'get',
    path: '/browser-sessions/{id}/live',
    group: GROUP,
    summary: 'Show the page on which a session is watched',
    description:
      'Members of the tenant sign in; others need a live link. Without either it leads to the sign-in page, and of a session of others it says nothing (404).',
    params: ofSession,
    query: LivePageQuery,
    status: 200,
    otherStatuses: [302],
    response: NoContent,
    contentTypes: ['text/html'],
    async handle({ params: { id }, query: { link, view } }, scope) {
      const { cookies, publicUrl } = scope;
      const own = `${basePathOf(publicUrl)}${livePathOf(encodeURIComponent(id))}`;
      const to = (location: string, cookie?: string) =>
        reply(undefined, {
          status: 302,
          headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
          ...(cookie !== undefined && { cookies: [cookie] }),
        });
      const { findLiveAccess } = scope.adapters.browsers;
      if (link !== undefined) {
        if (!isId(id) || !(await findLiveAccess(id, { actor: undefined, links: [link] })))
          return htmlReply(noSessionPage(), 404);
        const kept = cookies.write('qs_live', withLink(cookies.get('qs_live'), link), COOKIE_SECONDS);
        return to(view === undefined ? own : `${own}?view=${view}`, kept);
      }
      const caller = await callerOf(scope);
      const access = isId(id) ? await findLiveAccess(id, caller) : undefined;
      if (!access && caller.actor) return htmlReply(noSessionPage(), 404);
      if (!access) return to(`${basePathOf(publicUrl)}/api/auth/sign-in?${new URLSearchParams({ next: own })}`);
      const { session } = access;
      const shown = view === 'mjpeg' && session.provider === 'local' ? mjpegView(session) : await viewOf(access, scope);
      const { repositoryIdentifier } = session;
      const page = { publicUrl, sessionId: session.id, subject: subjectOf(session), repositoryIdentifier, view: shown };
      return htmlReply(livePage(page), 200);
    },
  }),
  definePublicRoute({
    operationId: 'getLiveState',
    method: 'get',
    path: '/browser-sessions/{id}/live/state',
    group: GROUP,
    summary: 'Show what the page of a session needs to know',
    description:
      'For the live page, with the session cookie or a live link. Callers who may not see the session get 404.',
    params: ofSession,
    status: 200,
    response: LiveState,
    async handle({ params: { id } }, scope) {
      const access = await accessOf(id, scope);
      if (!access) throw notFound('The browser session');
      const { session, viewer, mayChange } = access;
      return reply(
        {
          status: session.status,
          hasEnded: hasEnded(session.status),
          statusReason: session.statusReason,
          statusDetail: session.statusDetail,
          expiresAt: session.expiresAt,
          leftMs: Math.max(0, new Date(session.expiresAt).getTime() - scope.now().getTime()),
          view: viewKind(session),
          viewer: {
            name: viewer.name,
            isSignedIn: viewer.linkId === null,
            mayControl: viewer.may === 'control',
            mayChange,
          },
          recording: { state: session.recordingState },
        } as const,
        { headers: { 'Cache-Control': 'no-store' } },
      );
    },
  }),
  definePublicRoute({
    operationId: 'getLivePictures',
    method: 'get',
    path: '/browser-sessions/{id}/live/pictures',
    group: GROUP,
    summary: 'Stream pictures of a live session',
    description: 'For the page without script: each picture replaces the one before, in one answer.',
    params: ofSession,
    status: 200,
    response: z.instanceof(RawReply),
    contentTypes: ['multipart/x-mixed-replace'],
    errors: ['invalid_transition', 'upstream_error'],
    async handle({ params: { id } }, scope) {
      const access = await accessOf(id, scope);
      if (!access) throw notFound('The browser session');
      const { adapters, now } = scope;
      const { hostTokens, findLiveAccess } = adapters.browsers;
      const callerNow = () => callerOf(scope);
      const to = await admission(access, 'watch', { hostTokens, now, findLiveAccess, callerNow });
      const leave = takeSocket(adapters.browsers.socketSlots, to.tenantId);
      const answer = await passPictures(to).catch((error: unknown) => {
        leave();
        throw error;
      });
      answer.once('close', leave);
      endWhenWithdrawn(answer, to.isStillAdmitted);
      return new RawReply(answer.headers['content-type'] ?? '', answer, { 'Cache-Control': 'no-store' });
    },
  }),
  definePublicRoute({
    operationId: 'getLiveAsset',
    method: 'get',
    path: '/browser-session-assets/{name}',
    group: GROUP,
    summary: 'Fetch a file of the page of a session',
    description: 'Its style and its scripts, which are the same for everybody.',
    params: z.object({ name: z.enum(['live.css', 'live.js', 'live-input.js']) }),
    status: 200,
    response: z.instanceof(RawReply),
    contentTypes: ['text/css', 'text/javascript'],
    async handle({ params: { name } }) {
      const { type, body } = LIVE_ASSETS[name];
      return new RawReply(type, body, { 'Cache-Control': 'no-cache' });
    },
  }),
];

function endWhenWithdrawn(stream: Readable, isStillAdmitted: () => Promise<boolean>): void {
  const timer = setInterval(() => {
    isStillAdmitted().then(
      (is) => is || stream.destroy(),
      // What cannot be told now is asked again.
      () => undefined,
    );
  }, RECHECK_MS);
  timer.unref();
  stream.once('close', () => clearInterval(timer));
}
