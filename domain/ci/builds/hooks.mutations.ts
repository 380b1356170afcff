import { persistently } from '../../kernel/data/database-trouble.ts';
import { fetchUnknownCommits, type MirrorToFetch } from '../../code/git/mirror/commit-fetches.mutations.ts';
import { requestFetch } from '../../code/git/mirror/mirror.queries.ts';
import { type Platform, Project } from '../../projects/projects/projects.entities.ts';
import { recordPullRequests } from '../../code/pull-requests/pull-requests.mutations.ts';
import { type Actor, systemActor, tenantOf } from '../../kernel/shared/actor.ts';
import type { Encryption } from '../../kernel/encryption/encryption.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { newWebhookSecret } from '../../events/webhooks/standard-webhooks.ts';
import { noteHookedItem } from '../../work/work-item-requests/item-hooks.mutations.ts';
import { upsertPush } from './builds.queries.ts';
import {
  deliveryOf,
  hasPlausibleProof,
  type HookDelivery,
  type HookHeaders,
  isProven,
  isWithinWindow,
  type ReceivedHook,
} from '../../projects/integrations/hook-signature.ts';
import { hookSecrets, insertHookDelivery, replaceHookSecret } from './hooks.queries.ts';
import { recordStatus } from './host-events.mutations.ts';
import { type HookContent, readHook } from './host-events-rules.ts';

/** A secret belongs to one project: moved to another row it cannot be decrypted. */
export const hookSecretContext = (projectId: string): string => `hook-secret:${projectId}`;

/**
 * A new secret for the hooks of a project; the one before it stays valid for `overlapHours` more, so that no hook is
 * lost until the host has the new one. It is shown only once. As `whsec_` and base64 it suits every host: it is a
 * password, a key for HMAC, and a signing token by Standard Webhooks.
 */
export async function rotateHookSecret(
  tx: Tx,
  encryption: Encryption,
  project: Project,
  overlapHours: number,
): Promise<string> {
  const secret = newWebhookSecret();
  await replaceHookSecret(tx, project.id, encryption.encrypt(secret, hookSecretContext(project.id)), overlapHours);
  tx.audit({
    source: 'project',
    action: 'project.hook_secret_renewed',
    entityType: 'project',
    entityId: project.id,
    repositoryIdentifier: project.identifier,
    summary: `The secret for hooks of ${project.identifier} was rotated; the one before it is valid for ${overlapHours} more hours`,
  });
  return secret;
}

export interface HookReceiver {
  actingAs: (actor: Actor) => UnitOfWork;
  encryption: Encryption;
  /** Counts a hook that names a repository, registered or not. Throws `rate_limited`. */
  limit: (repositoryIdentifier: string) => Promise<void>;
  now: () => Date;
}

export interface HookResult {
  outcome: 'accepted' | 'known' | 'ignored';
  /** How many events of the hook were recorded. */
  events: number;
  /** The repository of which a fetch was requested. */
  toFetch?: MirrorToFetch | undefined;
}

/** Throws `unauthenticated` for a hook whose headers cannot prove its sender, whatever the body is. */
export function assertPlausibleProof(host: Platform, headers: HookHeaders): void {
  if (!hasPlausibleProof(host, headers)) throw unproven();
}

/** Strangers learn neither which repositories are registered, nor which of them have a secret. */
const unproven = () =>
  new DomainError('unauthenticated', 'The hook is not signed with the secret of a project with this repository');

/**
 * Receives a hook: its events are recorded once, in whatever order hooks arrive. Throws `unauthenticated` without proof
 * of its sender, `rate_limited`, and `invalid_request` when it is too old.
 * @param named the repository, where the host does not name it in the payload.
 */
export async function receiveHook(
  { actingAs, encryption, limit, now }: HookReceiver,
  host: Platform,
  hook: ReceivedHook,
  named: string | undefined,
): Promise<HookResult> {
  const content = readHook(host, hook.body, hook.headers['x-github-event'] ?? '');
  // Work items may be in another repository than the project's, which the address names then.
  const repositoryIdentifier = (content.workItem ? named : undefined) ?? content.repositoryIdentifier ?? named;
  if (repositoryIdentifier === undefined) throw unproven();
  assertPlausibleProof(host, hook.headers);
  await limit(repositoryIdentifier);
  // Without a tenant nothing is visible but what the one function returns.
  const candidates = await actingAs(systemActor({ tenantId: '', tenantSlug: '' }, 'hooks'))((tx) =>
    hookSecrets(tx, host, repositoryIdentifier),
  );
  const sender = candidates.find(({ projectId, secret }) =>
    isProven(host, hook, encryption.decrypt(secret, hookSecretContext(projectId)), now()),
  );
  if (!sender) throw unproven();
  if (!isWithinWindow(content.occurredAt, now()))
    throw new DomainError('invalid_request', 'The hook was made more than seven days ago, or in the future');
  const { isPush, events, pullRequest, workItem } = content;
  if (!isPush && events.length === 0 && !pullRequest && !workItem) return { outcome: 'ignored', events: 0 };
  const { projectId } = sender;
  // Some hosts do not repeat a hook that failed.
  return persistently(() =>
    actingAs(systemActor(sender, `hooks-${host}`))((tx) =>
      recordHook(tx, { projectId, host }, deliveryOf(host, hook), content),
    ),
  );
}

async function recordHook(
  tx: Tx,
  { projectId, host }: { projectId: string; host: Platform },
  delivery: HookDelivery,
  { events, pullRequest, workItem, isPush }: HookContent,
): Promise<HookResult> {
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, id: projectId });
  // A hook of a host that is not the repository's concerns the project by its work items alone.
  if (project && project.platform !== host && !workItem) return { outcome: 'ignored', events: 0 };
  if (!project || !(await insertHookDelivery(tx, projectId, delivery))) return { outcome: 'known', events: 0 };
  // In the order of commits, so that hooks about the same commits cannot deadlock.
  for (const event of events.toSorted((a, b) => (a.commitId < b.commitId ? -1 : 1))) {
    if (event.kind === 'push') await upsertPush(tx, projectId, event);
    else await recordStatus(tx, project, event);
  }
  if (pullRequest) await recordPullRequests(tx, project, [pullRequest], { isFromList: false });
  if (workItem) await noteHookedItem(tx, project, workItem);
  const commits = events.map(({ commitId }) => commitId);
  const toFetch = isPush ? await fetchAtOnce(tx, project) : await fetchUnknownCommits(tx, project, commits);
  return { outcome: 'accepted', events: events.length + (pullRequest ? 1 : 0) + (workItem ? 1 : 0), toFetch };
}

async function fetchAtOnce(tx: Tx, { id, identifier, remoteUrl }: Project): Promise<MirrorToFetch | undefined> {
  if (remoteUrl === null) return undefined;
  await requestFetch(tx, id);
  return { ...tenantOf(tx.actor), projectId: id, repositoryIdentifier: identifier, waitMs: 0 };
}
