import { requestFetch } from '../git/mirror.queries.ts';
import { Project } from '../projects/projects.entities.ts';
import type { Encryption } from '../shared/encryption.ts';
import type { Tx } from '../unit-of-work.ts';
import { newWebhookSecret } from '../webhooks/standard-webhooks.ts';
import { notePush, noteStatus } from './build-status.queries.ts';
import type { HookDelivery } from './hook-signature.ts';
import type { HookContent } from './host-events-rules.ts';

/** A project whose secret a hook may have been signed with. */
export interface HookCandidate {
  tenantId: string;
  projectId: string;
  secret: string;
}

/** A secret belongs to one project: moved to another row it does not open. */
export const hookSecretContext = (projectId: string): string => `hook-secret:${projectId}`;

/** Projects of any tenant with this repository, and their secrets: a hook names no tenant. */
export async function hookCandidates(
  { sql }: Pick<Tx, 'sql'>,
  encryption: Encryption,
  host: Project['platform'],
  repositoryIdentifier: string,
): Promise<HookCandidate[]> {
  const rows = await sql<HookCandidate>(
    'select tenant_id as "tenantId", project_id as "projectId", secret from hook_secrets_of(?, ?)',
    [host, repositoryIdentifier],
  );
  return rows.map((row) => ({ ...row, secret: encryption.decrypt(row.secret, hookSecretContext(row.projectId)) }));
}

/**
 * A new secret for the hooks of a project; the one before it is good for `overlapHours` more, so that no hook is lost
 * until the host has the new one. It is shown this once. As `whsec_` and base64 it suits every host: it is a password,
 * a key for HMAC, and a signing token by Standard Webhooks.
 */
export async function renewHookSecret(
  tx: Tx,
  encryption: Encryption,
  project: Project,
  overlapHours: number,
): Promise<string> {
  const secret = newWebhookSecret();
  await tx.sql(
    `insert into hook_secret as s (tenant_id, project_id, secret, created_by) values (?, ?, ?, ?)
     on conflict (tenant_id, project_id) do update
     set previous_secret = case when ?::int > 0 then s.secret end, previous_until = now() + make_interval(hours => ?),
       secret = excluded.secret, created_by = excluded.created_by, created_at = now()`,
    [
      tx.tenantId,
      project.id,
      encryption.encrypt(secret, hookSecretContext(project.id)),
      tx.actor.email,
      overlapHours,
      overlapHours,
    ],
  );
  tx.audit({
    source: 'project',
    action: 'project.hook_secret_renewed',
    entityType: 'project',
    entityId: project.id,
    repositoryIdentifier: project.identifier,
    summary: `The secret for hooks of ${project.identifier} was made anew; the one before it is good for ${overlapHours} more hours`,
  });
  return secret;
}

export interface TakenHook {
  /** False: it was known, under its own name or, replayed, under another. */
  isNew: boolean;
  /** The project when a fetch of its repository was asked for. */
  pushed: Project | undefined;
}

/** Takes a hook whose sender is proven: once. */
export async function takeHook(
  tx: Tx,
  projectId: string,
  { deliveryId, bodyDigest }: HookDelivery,
  content: HookContent,
): Promise<TakenHook> {
  const project = await tx.em.findOne(Project, { tenantId: tx.tenantId, id: projectId });
  if (!project) return { isNew: false, pushed: undefined };
  const taken = await tx.sql(
    'insert into hook_delivery (tenant_id, project_id, delivery_id, body_digest) values (?, ?, ?, ?) on conflict do nothing returning 1',
    [tx.tenantId, projectId, deliveryId, bodyDigest],
  );
  if (taken.length === 0) return { isNew: false, pushed: undefined };
  // In order of commit, so that hooks about the same commits never wait for each other in a circle.
  for (const event of content.events.toSorted((a, b) => (a.commitId < b.commitId ? -1 : 1))) {
    if (event.kind === 'push') await notePush(tx, project, event);
    else await noteStatus(tx, project, event);
  }
  if (!content.isPush || project.remoteUrl === null) return { isNew: true, pushed: undefined };
  await requestFetch(tx, project.id);
  return { isNew: true, pushed: project };
}
