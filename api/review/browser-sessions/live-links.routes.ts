import type { z } from 'zod';
import {
  createLink,
  LINKS_MAX,
  revokeLink,
} from '../../../domain/review/browser-sessions/live/live-links.mutations.ts';
import { linksOfSession, type LiveLinkRow } from '../../../domain/review/browser-sessions/live/live-links.queries.ts';
import { sessionById } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { tenantOf } from '../../../domain/kernel/shared/actor.ts';
import { assertMayChange } from '../../../domain/review/browser-sessions/session-rules.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { byLink, type LiveLink, LiveLinkIn, LiveLinks, NewLiveLink } from './live.schemas.ts';
import { livePathOf } from './session-view.ts';

const GROUP = 'Browser sessions';
const CHANGED_BY = 'Members for sessions that they created; owners and applications for any.';

const linkView = ({ createdBy, ...link }: LiveLinkRow): z.input<typeof LiveLink> => ({
  ...link,
  createdBy: createdBy.email,
});

export const liveLinksRoutes = [
  defineRoute({
    operationId: 'createLiveLink',
    method: 'post',
    path: '/api/browser-sessions/{id}/live-links',
    group: GROUP,
    summary: 'Make a link for people without an account',
    description: `Whoever has the link watches the session, or controls it, until the link expires or is revoked, or the session ends. A session has ${LINKS_MAX} links at most that hold (409). ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: LiveLinkIn,
    status: 201,
    response: NewLiveLink,
    errors: ['invalid_transition'],
    givesCredential: true,
    audit: 'browser_session.link_created',
    async handle({ params: { id }, body }, { tx, adapters, actor, publicUrl }) {
      const link = await tx((work) => createLink(work, id, body));
      const key = { linkId: link.id, sessionId: id, ...tenantOf(actor) };
      const token = await adapters.browsers.liveLinkTokens.sign(key, new Date(link.expiresAt));
      return { ...linkView(link), url: `${publicUrl}${livePathOf(id)}?link=${token}` };
    },
  }),
  defineRoute({
    operationId: 'listLiveLinks',
    method: 'get',
    path: '/api/browser-sessions/{id}/live-links',
    group: GROUP,
    summary: 'List the live links of a session, the newest first',
    description: `Includes links that are no longer valid, at most 200; the links themselves are not kept. ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: LiveLinks,
    async handle({ params: { id } }, { reads, actor }) {
      assertMayChange(actor, await sessionById(reads, id));
      return { items: (await linksOfSession(reads, id)).map(linkView) };
    },
  }),
  defineRoute({
    operationId: 'revokeLiveLink',
    method: 'delete',
    path: '/api/browser-sessions/{id}/live-links/{linkId}',
    group: GROUP,
    summary: 'Revoke a live link',
    description: `Who came by it is cut off within a few seconds. ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byLink,
    status: 204,
    response: NoContent,
    audit: 'browser_session.link_revoked',
    handle: ({ params: { id, linkId } }, { tx }) => tx((work) => revokeLink(work, id, linkId)),
  }),
];
