import { z } from 'zod';
import { assertPlausibleProof, receiveHook, rotateHookSecret } from '../../../domain/ci/builds/hooks.mutations.ts';
import { PLATFORMS } from '../../../domain/projects/projects/projects.entities.ts';
import { projectInPath } from '../../../domain/projects/projects/projects.queries.ts';
import { signalMirrorLater } from '../../../workflows/code/git/git-mirror.contract.ts';
import { definePublicRoute, defineRoute } from '../../http/define-route.ts';
import { JsonObject, OverlapHours, RepositoryIdentifier } from '../../http/parameters.ts';
import { reply } from '../../http/replies.ts';

const GROUP = 'Builds';
const text = z.string().max(1_000).optional();

const HookHeaders = z.object({
  'x-github-event': text.meta({ description: 'host-a' }),
  'x-github-delivery': text.meta({ description: 'host-a' }),
  'x-hub-signature-256': text.meta({
    description: 'host-a: `sha256=` followed by the HMAC of the body with the secret, in hex',
  }),
  authorization: text.meta({
    description: 'host-b: basic authentication with any username and the secret as the password',
  }),
  'x-gitlab-token': text.meta({ description: 'host-c without a signing token: the secret' }),
  'idempotency-key': text.meta({ description: 'host-c: id of the delivery' }),
  'webhook-id': text.meta({ description: 'host-c with a signing token' }),
  'webhook-timestamp': text.meta({ description: 'host-c with a signing token' }),
  'webhook-signature': text.meta({
    description: 'host-c with the secret as the signing token: signature by Standard Webhooks',
  }),
});

const HookSecretRotation = z
  .strictObject({
    overlapHours: OverlapHours.meta({
      description: 'Hours for which the previous secret remains valid; 0 if it has leaked',
    }),
  })
  .prefault({});

const HookSecret = z
  .object({
    secret: z.string().meta({ description: 'Shown only in this reply' }),
    url: z.url().meta({ description: 'The URL to configure at the host, with content type JSON' }),
  })
  .meta({ id: 'HookSecret' });

const HookOutcome = z
  .object({
    outcome: z
      .enum(['accepted', 'known', 'ignored'])
      .meta({ description: '`known`: received before; `ignored`: not relevant to this service' }),
    events: z.int(),
  })
  .meta({ id: 'HookOutcome' });

export const hooksRoutes = [
  defineRoute({
    operationId: 'rotateHookSecret',
    method: 'post',
    path: '/api/projects/{identifier}/hook-secret',
    group: 'Projects',
    summary: "Rotate the secret with which the git host signs a project's hooks",
    description:
      'Each call creates a new secret. The previous one remains valid for `overlapHours`, so that no hook is lost until the host uses the new one; older ones are revoked.',
    roles: ['owner'],
    projectScope: 'row',
    params: z.object({ identifier: RepositoryIdentifier }),
    body: HookSecretRotation,
    status: 201,
    response: HookSecret,
    audit: 'project.hook_secret_renewed',
    handle: ({ params: { identifier }, body: { overlapHours } }, { tx, adapters: { encryption }, publicUrl }) =>
      tx(async (work) => {
        const project = await projectInPath(work, identifier);
        const secret = await rotateHookSecret(work, encryption, project, overlapHours);
        const url = `${publicUrl}/api/hooks/${project.platform}?repositoryIdentifier=${encodeURIComponent(identifier)}`;
        return reply({ secret, url }, { headers: { 'Cache-Control': 'no-store' } });
      }),
  }),
  definePublicRoute({
    operationId: 'receiveHook',
    method: 'post',
    path: '/api/hooks/{host}',
    group: GROUP,
    summary: 'Receive a hook of a git host',
    description: [
      'host-a: `push`, `create`, `delete`, `status`, `workflow_run`, `pull_request`, `pull_request_review`, `issues`; host-b: `git.push`, `build.complete`, `workitem.updated`, `git.pullrequest.created`, `git.pullrequest.updated`, `git.pullrequest.merged`; host-c: push, tag, pipeline and merge request events; other kinds are `ignored`. A push causes a fetch of the repository, and so does the status of an unknown commit; build statuses are listed by `GET /api/builds/status` and announced as `build.started`, `build.completed` and `build.failed`; pull requests are shown by `GET /api/users/me/activity`; requests that were completed in a work item are closed when that is.',
      'The project is found by the repository in the payload or, if the host sends none, by `repositoryIdentifier` in the query; hooks about work items, which may be elsewhere, belong to the project that the query names, if any. A hook without a valid signature or for an unregistered repository gets 401 (if the headers cannot prove the sender, before the body is read), a hook that is older than seven days 400. A repeated hook is processed once; if hooks arrive out of order, the one with the later time at the host prevails. More than HOOK_RATE_LIMIT_PER_MINUTE hooks for a repository from one address get 429.',
    ].join('\n\n'),
    params: z.object({ host: z.enum(PLATFORMS) }),
    // Hosts may add parameters of their own.
    query: z.looseObject({ repositoryIdentifier: RepositoryIdentifier.optional() }),
    headers: HookHeaders,
    admit: ({ params: { host }, headers }) => assertPlausibleProof(host, headers),
    takesHook: true,
    body: JsonObject,
    status: 202,
    response: HookOutcome,
    errors: ['unauthenticated'],
    audit: ['build.started', 'build.completed', 'build.failed', 'work_item_request.updated'],
    async handle({ params: { host }, query, headers, body }, { adapters, actingAs, address, bodyBytes, now }) {
      const { encryption, hooks, launch } = adapters;
      const limit = async (repositoryIdentifier: string) => {
        await hooks.limit(`${address} ${host} ${repositoryIdentifier.toLowerCase()}`);
      };
      const receiver = { actingAs, encryption, limit, now };
      const hook = { headers, body, bodyBytes };
      const { toFetch, ...result } = await receiveHook(receiver, host, hook, query.repositoryIdentifier);
      if (toFetch) signalMirrorLater(launch, toFetch);
      return result;
    },
  }),
];
