import { shownRemote } from '../remotes/git-remote-rules.ts';
import { permittedRemote, type RemotePolicy } from '../remotes/remote-policy.ts';
import { DomainError, invalidField, versionConflict } from '../../kernel/shared/errors.ts';
import { definedMembers, mergePatch, type Patch } from '../../kernel/shared/merge-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { emitEvent } from '../../events/webhooks/event-catalog.ts';
import { Project } from './projects.entities.ts';
import { findProject, projectInPath } from './projects.queries.ts';

type Fields = Pick<Project, 'remoteUrl' | 'platform' | 'defaultBranch'>;

export interface NewProject extends Pick<Project, 'identifier' | 'platform' | 'defaultBranch'> {
  remoteUrl?: string | null | undefined;
  configuration: Record<string, unknown>;
}

export interface ProjectPatch extends Patch<Fields> {
  /** A merge patch (RFC 7396): `null` takes a member out. */
  configuration?: object | undefined;
  /** Version of the project as the caller knows it; another one is a conflict. */
  version?: number | undefined;
}

/** What of a project stands in the audit trail. */
const stateOf = ({ id, identifier, remoteUrl, platform, defaultBranch, configuration }: Project) => ({
  id,
  identifier,
  remoteUrl: shownRemote(remoteUrl ?? null),
  platform,
  defaultBranch,
  configuration,
});

function assertPermitted(remoteUrl: string | null | undefined, remotes: RemotePolicy): void {
  if (remoteUrl === null || remoteUrl === undefined) return;
  const parsed = permittedRemote(remoteUrl, remotes);
  if (!parsed.isOk) throw invalidField('remoteUrl', parsed.reason);
}

/** Writes a change to the audit trail and announces it. */
function record(
  tx: Tx,
  action: 'created' | 'updated' | 'deleted',
  { id, identifier, platform, defaultBranch }: Project,
  change: { before?: unknown; after?: unknown },
): void {
  tx.audit({
    source: 'project',
    action: `project.${action}`,
    entityType: 'project',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Project ${identifier} ${action}`,
    ...change,
  });
  emitEvent(tx, `project.${action}`, { id, repositoryIdentifier: identifier, platform, defaultBranch });
}

/**
 * Registers a repository, and requests a first fetch of its remote. Throws `already_exists`, and `invalid_request` for a
 * remote that is not permitted.
 */
export async function registerProject(
  tx: Tx,
  remotes: RemotePolicy,
  { remoteUrl = null, ...input }: NewProject,
): Promise<Project> {
  assertPermitted(remoteUrl, remotes);
  if (await findProject(tx, input.identifier)) {
    throw new DomainError('already_exists', `The repository ${input.identifier} is already registered`);
  }
  const project = tx.em.create(Project, { ...input, remoteUrl, tenantId: tx.tenantId });
  await tx.em.flush();
  record(tx, 'created', project, { after: stateOf(project) });
  await tx.tell('projectChanged', project);
  return project;
}

/**
 * Changes a project, and requests a fetch of its remote. Throws `not_found`, `version_conflict`, and `invalid_request` for a
 * remote that is not permitted.
 */
export async function updateProject(
  tx: Tx,
  remotes: RemotePolicy,
  identifier: string,
  { version, configuration, ...fields }: ProjectPatch,
): Promise<Project> {
  assertPermitted(fields.remoteUrl, remotes);
  const project = await projectInPath(tx, identifier, { forUpdate: true });
  if (version !== undefined && version !== project.version) throw versionConflict('The project', project.version);
  const before = stateOf(project);
  tx.em.assign(project, definedMembers(fields));
  if (configuration) project.configuration = mergePatch(project.configuration, configuration);
  await tx.em.flush();
  record(tx, 'updated', project, { before, after: stateOf(project) });
  await tx.tell('projectChanged', project);
  return project;
}

/**
 * Removes a project with all that belongs to it but its audit trail; the workflows of its runs are cancelled. False: its
 * browser sessions are being removed, which has to be committed, and the project stays until that is done. Throws
 * `not_found`.
 */
export async function removeProject(tx: Tx, identifier: string): Promise<boolean> {
  const project = await projectInPath(tx, identifier, { forUpdate: true });
  const before = stateOf(project);
  const removals = await tx.tell('projectRemoved', project.id);
  if (removals.some(({ isPending }) => isPending)) return false;
  await tx.em.remove(project).flush();
  record(tx, 'deleted', project, { before });
  for (const { runs = [] } of removals) for (const run of runs) tx.after('removedRun', run);
  return true;
}
