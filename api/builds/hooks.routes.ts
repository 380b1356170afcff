import { z } from 'zod';
import { deliveryOf, hasProof, isProven, isWithinWindow } from '../../domain/builds/hook-signature.ts';
import { hookCandidates, renewHookSecret, takeHook } from '../../domain/builds/hooks.ts';
import { readHook } from '../../domain/builds/read-hook-rules.ts';
import { PLATFORMS } from '../../domain/projects/projects.entities.ts';
import { projectInPath } from '../../domain/projects/projects.queries.ts';
import { systemActor } from '../../domain/shared/actor.ts';
import { DomainError } from '../../domain/shared/errors.ts';
import { wakeMirror } from '../../workflows/git/git-mirror.contract.ts';
import { definePublicRoute, defineRoute } from '../http/define-route.ts';
import { JsonObject, OverlapHours, RepositoryIdentifier } from '../http/parameters.ts';
import { reply } from '../http/replies.ts';

const GROUP = 'Builds';
const text = z.string().max(1_000).optional();

const headers = z.object({
  'x-github-event': text.meta({ description: 'host-a' }),
  'x-github-delivery': text.meta({ description: 'host-a' }),
  'x-hub-signature-256': text.meta({
    description: 'host-a: `sha256=` and the HMAC of the body with the secret, in hex',
  }),
  authorization: text.meta({ description: 'host-b: basic, with the secret as the password and any name' }),
  'x-gitlab-token': text.meta({ description: 'host-c without a signing token: the secret itself' }),
  'idempotency-key': text.meta({ description: 'host-c: names the delivery' }),
  'webhook-id': text.meta({ description: 'host-c with a signing token' }),
  'webhook-timestamp': text.meta({ description: 'host-c with a signing token' }),
  'webhook-signature': text.meta({ description: 'host-c with the secret as its signing token: Standard Webhooks' }),
});

const HookSecretRenewal = z
  .strictObject({
    overlapHours: OverlapHours.meta({
      description: 'Hours for which the secret before it goes on working; 0 when it has become known',
    }),
  })
  .prefault({});

const HookSecret = z
  .object({
    secret: z.string().meta({ description: 'Shown this once' }),
    url: z.url().meta({ description: 'The address to which the host is to send its hooks, as JSON' }),
  })
  .meta({ id: 'HookSecret' });

const HookOutcome = z
  .object({
    outcome: z
      .enum(['accepted', 'known', 'ignored'])
      .meta({ description: '`known`: taken before; `ignored`: about nothing that counts here' }),
    events: z.int(),
  })
  .meta({ id: 'HookOutcome' });

/** Neither which repositories are registered, nor for which a secret is kept, is told to strangers. */
const unproven = () =>
  new DomainError('unauthenticated', 'The hook is not signed with the secret of a project with this repository');

export const hooksRoutes = [
  defineRoute({
    operationId: 'createHookSecret',
    method: 'post',
    path: '/api/projects/{identifier}/hook-secret',
    group: 'Projects',
    summary: "Make the secret with which the git host signs a project's hooks",
    description:
      'Each call makes another; the one before it goes on working for `overlapHours`, so that no hook is lost until the host has the new one, and those before that are good no more.',
    roles: ['owner'],
    params: z.object({ identifier: RepositoryIdentifier }),
    body: HookSecretRenewal,
    status: 201,
    response: HookSecret,
    audit: 'project.hook_secret_renewed',
    handle: ({ params: { identifier }, body: { overlapHours } }, { tx, adapters: { encryption }, publicUrl }) =>
      tx(async (work) => {
        const project = await projectInPath(work, identifier);
        const secret = await renewHookSecret(work, encryption, project, overlapHours);
        const url = `${publicUrl}/api/hooks/${project.platform}?repositoryIdentifier=${encodeURIComponent(identifier)}`;
        return reply({ secret, url }, { headers: { 'Cache-Control': 'no-store' } });
      }),
  }),
  definePublicRoute({
    operationId: 'receiveHook',
    method: 'post',
    path: '/api/hooks/{host}',
    group: GROUP,
    summary: 'Hooks of the git hosts: pushes, and what becomes of builds',
    description: [
      'host-a: `push`, `create`, `delete`, `status`, `workflow_run`; host-b: `git.push`, `build.complete`; host-c: push, tag and pipeline events; other kinds are `ignored`. A push has the repository fetched; states of builds are shown by `GET /api/builds/status` and announced as `build.started`, `build.completed` and `build.failed`.',
      'The project is found by the repository in the payload, or where the host names none there by `repositoryIdentifier` in the address. Without the proof of its sender, or for a repository that no project has, a hook is 401; one that was made more than seven days ago is 400. One that comes again is taken once; of hooks out of order the one with the later time of the host counts.',
    ].join('\n\n'),
    params: z.object({ host: z.enum(PLATFORMS) }),
    query: z.strictObject({ repositoryIdentifier: RepositoryIdentifier.optional() }),
    headers,
    body: JsonObject,
    status: 202,
    response: HookOutcome,
    errors: ['unauthenticated'],
    audit: ['build.started', 'build.completed', 'build.failed'],
    async handle(
      { params: { host }, query, headers: given, body },
      { adapters: { encryption, launch }, actingAs, bodyText, now },
    ) {
      const hook = { headers: given, body, bodyText };
      const content = readHook(host, body, given['x-github-event'] ?? '');
      const repositoryIdentifier = content.repositoryIdentifier ?? query.repositoryIdentifier;
      if (repositoryIdentifier === undefined || !hasProof(host, hook)) throw unproven();
      // Without a tenant nothing is visible but what the one function answers.
      const candidates = await actingAs(systemActor('', 'hooks'))((work) =>
        hookCandidates(work, encryption, host, repositoryIdentifier),
      );
      const sender = candidates.find(({ secret }) => isProven(host, hook, secret, now()));
      if (!sender) throw unproven();
      if (!isWithinWindow(content.occurredAt, now()))
        throw new DomainError('invalid_request', 'The hook was made more than seven days ago, or in the future');
      if (!content.isPush && content.events.length === 0) return { outcome: 'ignored' as const, events: 0 };
      const { tenantId, projectId } = sender;
      const { isNew, pushed } = await actingAs(systemActor(tenantId, `hooks-${host}`))((work) =>
        takeHook(work, projectId, deliveryOf(host, hook), content),
      );
      if (pushed) wakeMirror(launch, { tenantId, projectId, repositoryIdentifier: pushed.identifier });
      return { outcome: isNew ? ('accepted' as const) : ('known' as const), events: isNew ? content.events.length : 0 };
    },
  }),
];
