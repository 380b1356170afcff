import { assertPermittedHosts } from '../../../domain/projects/environments/org-host-rules.ts';
import { commandOf } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { RECORD_SESSION } from '../../../domain/delivery/flows/flow-categories.ts';
import { availableProviders } from '../../../domain/review/browser-sessions/providers.queries.ts';
import {
  recordForPullRequest,
  recordInEnvironment,
  type RequestedSession,
} from '../../../domain/review/browser-sessions/recordings/record.mutations.ts';
import { removeSession } from '../../../domain/review/browser-sessions/sessions.mutations.ts';
import { listSessions, sessionById, timelineOf } from '../../../domain/review/browser-sessions/sessions.queries.ts';
import { CAP_MINUTES } from '../../../domain/review/browser-sessions/session-rules.ts';
import type { Commands } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { projectInRequest } from '../../../domain/projects/projects/projects.queries.ts';
import type { Tx } from '../../../domain/unit-of-work.ts';
import { flowRunContract } from '../../../workflows/delivery/flows/flow-run.contract.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { byId, NoContent } from '../../http/parameters.ts';
import { pageReply, reply } from '../../http/replies.ts';
import type { Scope } from '../../http/scope.ts';
import {
  BrowserProviders,
  BrowserSession,
  BrowserSessions,
  BrowserSessionWithTimeline,
  byEnvironment,
  ExtendSessionIn,
  ProvidersQuery,
  RecordForPrIn,
  RecordIn,
  SessionPatch,
  SessionsQuery,
} from './browser-sessions.schemas.ts';
import { extendByWorkflow, patchByWorkflow, stopByWorkflow } from './session-changes.ts';
import { sessionView } from './session-view.ts';

const GROUP = 'Browser sessions';
const ENDS = ['browser_session.ended', 'browser_session.expired', 'browser_session.failed'];
const CHANGED_BY = 'Members change the sessions that they created; owners and applications any.';

/** Requests a session, and starts its flow run after the commit; the session's own workflow starts with the commit. */
async function requestSession(
  { tx, adapters, requestId }: Pick<Scope, 'tx' | 'adapters' | 'requestId'>,
  accept: (
    work: Tx,
    context: { requestId: string; commands: Commands; sessionsPerTenant: number },
  ) => Promise<RequestedSession>,
): Promise<RequestedSession> {
  const { commands } = adapters.flows;
  const { sessionsPerTenant } = adapters.browsers;
  const requested = await tx((work) => accept(work, { requestId, commands, sessionsPerTenant }));
  if (requested.run) adapters.launch.startInBackground(flowRunContract, requested.run);
  return requested;
}

export const browserSessionsRoutes = [
  defineRoute({
    operationId: 'listBrowserSessions',
    method: 'get',
    path: '/api/browser-sessions',
    group: GROUP,
    summary: 'List browser sessions, the newest first',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: SessionsQuery,
    status: 200,
    response: BrowserSessions,
    async handle({ query: { repositoryIdentifier, limit, offset, ...filter } }, { reads, publicUrl, requestUrl }) {
      const projectId =
        repositoryIdentifier === undefined ? undefined : (await projectInRequest(reads, repositoryIdentifier)).id;
      const page = { limit, offset };
      const { items, total } = await listSessions(reads.with({ isPlannedAnew: true }), { projectId, ...filter }, page);
      const shown = items.map((session) => sessionView(publicUrl, session));
      return pageReply(requestUrl, { ...page, total }, { items: shown, ...page, total });
    },
  }),
  defineRoute({
    operationId: 'recordSessionForPullRequest',
    method: 'post',
    path: '/api/browser-sessions/record-for-pr',
    group: GROUP,
    summary: 'Allocate a browser at the org that is assigned to a pull request',
    description: [
      'The browser is signed in at the org through its front door, and recorded. 202: the session is being provisioned; follow it, or wait for `browser_session.live`. 200: the pull request has a session that is provisioning or live. Without an active review assignment: 404.',
      'The browser comes from the first of these that there is: a command or pipeline that executes `record-session` (`recordPipeline` of the project), an integration of kind `browser`, the hosts of this installation. Where there is none: 409 `flow_unavailable`. A session that is not live within 5 minutes fails.',
      'A tenant has at most 20 sessions that are provisioning or live on the hosts of this installation, or as many as the operator allows (`BROWSER_SESSIONS_PER_TENANT`); one more gets 429 `rate_limited`.',
    ].join('\n\n'),
    roles: ANY_ROLE,
    projectScope: 'row',
    body: RecordForPrIn,
    status: 202,
    otherStatuses: [200],
    response: BrowserSession,
    errors: ['flow_unavailable'],
    audit: ['browser_session.created', 'flow.run_requested'],
    async handle({ body }, scope) {
      assertPermittedHosts(body.allowedHosts, scope.adapters.hosts.refusedHost, 'allowedHosts');
      const { session, run } = await requestSession(scope, (work, context) =>
        recordForPullRequest(work, body, context),
      );
      return reply(sessionView(scope.publicUrl, session), { status: run ? 202 : 200 });
    },
  }),
  defineRoute({
    operationId: 'listBrowserProviders',
    method: 'get',
    path: '/api/browser-sessions/providers',
    group: GROUP,
    summary: 'Show what allocates browsers here, and why something does not',
    roles: ANY_ROLE,
    projectScope: 'row',
    query: ProvidersQuery,
    status: 200,
    response: BrowserProviders,
    async handle({ query: { repositoryIdentifier } }, { reads, adapters }) {
      const project =
        repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
      const isExecutedOutside =
        commandOf(adapters.flows.commands, RECORD_SESSION) !== undefined ||
        project?.configuration.recordPipeline !== undefined;
      return availableProviders(reads, project?.id, { isExecutedOutside });
    },
  }),
  defineRoute({
    operationId: 'getBrowserSession',
    method: 'get',
    path: '/api/browser-sessions/{id}',
    group: GROUP,
    summary: 'Get a browser session with its timeline',
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: BrowserSessionWithTimeline,
    async handle({ params: { id } }, { reads, publicUrl }) {
      const session = await sessionById(reads, id);
      return { ...sessionView(publicUrl, session), timeline: await timelineOf(reads, id) };
    },
  }),
  defineRoute({
    operationId: 'reportBrowserSession',
    method: 'patch',
    path: '/api/browser-sessions/{id}',
    group: GROUP,
    summary: 'Report on a browser session that a worker outside executes',
    description:
      'For commands and pipelines (`provider` external). The same status is 200; provisioning becomes live, ended or error, live becomes ended, expired or error, and everything else is 409. `liveViewUrl` is shown as it was given. A worker that sees its session ended, by stop or expiry, ends its browser.',
    roles: ['application'],
    projectScope: 'row',
    params: byId,
    body: SessionPatch,
    admitsRun: ({ sessionId }, { params: { id } }) => sessionId === id,
    status: 200,
    response: BrowserSession,
    errors: ['invalid_transition'],
    audit: ['browser_session.patched', 'browser_session.live', ...ENDS],
    handle: async ({ params: { id }, body }, scope) =>
      sessionView(scope.publicUrl, await patchByWorkflow(scope, id, body)),
  }),
  defineRoute({
    operationId: 'deleteBrowserSession',
    method: 'delete',
    path: '/api/browser-sessions/{id}',
    group: GROUP,
    summary: 'Delete a browser session with its recording',
    description: `One that runs is stopped; when that fails it is tried again after the reply. The recording of a hosted browser stays at its provider until that removes it (Browserbase: after 31 days). ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 204,
    response: NoContent,
    audit: ['browser_session.deleted', ...ENDS],
    handle: ({ params: { id } }, { tx }) => tx((work) => removeSession(work, id)),
  }),
  defineRoute({
    operationId: 'extendBrowserSession',
    method: 'post',
    path: '/api/browser-sessions/{id}/extend',
    group: GROUP,
    summary: 'Extend a browser session',
    description: `Up to ${CAP_MINUTES} minutes after its creation: what goes beyond is cut off, and at that end, or when the session is not live, the reply is 409. ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    body: ExtendSessionIn,
    status: 200,
    response: BrowserSession,
    errors: ['invalid_transition'],
    audit: 'browser_session.extended',
    handle: async ({ params: { id }, body: { minutes } }, scope) =>
      sessionView(scope.publicUrl, await extendByWorkflow(scope, id, minutes)),
  }),
  defineRoute({
    operationId: 'stopBrowserSession',
    method: 'post',
    path: '/api/browser-sessions/{id}/stop',
    group: GROUP,
    summary: 'Stop a browser session',
    description: `Its recording is kept. One that has ended is not changed; one that is being provisioned ends, too. ${CHANGED_BY}`,
    roles: ANY_ROLE,
    projectScope: 'row',
    params: byId,
    status: 200,
    response: BrowserSession,
    isRepeatable: true,
    audit: ENDS,
    handle: async ({ params: { id } }, scope) => sessionView(scope.publicUrl, await stopByWorkflow(scope, id)),
  }),
  defineRoute({
    operationId: 'recordSessionInEnvironment',
    method: 'post',
    path: '/api/environments/{envId}/browser/record',
    group: GROUP,
    summary: 'Allocate a browser at the org of an environment',
    description: 'Works as for a pull request. An environment that names no org gets 400.',
    roles: ['owner', 'application'],
    projectScope: 'row',
    params: byEnvironment,
    body: RecordIn,
    status: 202,
    response: BrowserSession,
    errors: ['flow_unavailable'],
    audit: ['browser_session.created', 'flow.run_requested'],
    async handle({ params: { envId }, body }, scope) {
      assertPermittedHosts(body.allowedHosts, scope.adapters.hosts.refusedHost, 'allowedHosts');
      const { session } = await requestSession(scope, (work, context) =>
        recordInEnvironment(work, envId, body, context),
      );
      return sessionView(scope.publicUrl, session);
    },
  }),
];
