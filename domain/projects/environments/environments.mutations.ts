import { mayBeUsername } from './org-name-rules.ts';
import { followersOf, problemOfAfter } from '../policies/after-rules.ts';
import { problemOfVerification } from '../policies/verification-policy-rules.ts';
import type { ProjectFacts } from '../projects/projects.queries.ts';
import { DomainError, invalidField, versionConflict } from '../../kernel/shared/errors.ts';
import { definedMembers, type Patch } from '../../kernel/shared/merge-rules.ts';
import type { Tx } from '../../unit-of-work.ts';
import { Environment } from './environments.entities.ts';
import {
  countEnvironments,
  ENVIRONMENTS_MAX,
  environmentById,
  environmentByName,
  environmentsOfOrg,
  useSandboxUsername,
} from './environments.queries.ts';

type Fields = Omit<Environment, 'id' | 'tenantId' | 'projectId' | 'createdAt' | 'updatedAt' | 'version'>;
export type NewEnvironment = Patch<Fields> & Pick<Fields, 'name' | 'category'>;

/** What of an environment stands in the audit trail. */
const stateOf = ({ tenantId: _t, createdAt: _c, updatedAt: _u, version: _v, ...state }: Environment) => ({ ...state });

const audit = (
  tx: Tx,
  action: 'created' | 'updated' | 'deleted',
  { id, name }: Pick<Environment, 'id' | 'name'>,
  { identifier }: Pick<ProjectFacts, 'identifier'>,
  change: { before?: unknown; after?: unknown },
) =>
  tx.audit({
    source: 'environment',
    action: `environment.${action}`,
    entityType: 'environment',
    entityId: id,
    repositoryIdentifier: identifier,
    summary: `Environment ${name} ${action}`,
    ...change,
  });

async function assertNameIsFree(tx: Tx, projectId: string, name: string): Promise<void> {
  if (await environmentByName(tx, projectId, name)) {
    throw new DomainError('already_exists', `The project already has an environment named ${name}`);
  }
}

/** The other environments of a project. */
const othersOf = ({ em, tenantId }: Tx, { id, projectId }: Environment): Promise<Environment[]> =>
  em.find(Environment, { tenantId, projectId, id: { $ne: id } });

/** Throws `invalid_request` for environments that must come first and are unknown, or come after this one themselves. */
async function assertOrder(tx: Tx, environment: Environment): Promise<void> {
  if (!environment.promotion?.after?.length) return;
  const problem = problemOfAfter(environment, await othersOf(tx, environment));
  if (problem !== undefined) throw invalidField('promotion/after', problem);
}

/** Throws `invalid_request` where deployments cannot be verified so. @param field the one that is changed. */
function assertVerifiable(environment: Environment, field?: string): void {
  const problem = problemOfVerification(environment);
  if (problem) throw invalidField(field ?? problem.field, problem.detail);
}

/** Environments that name one that has another name now. */
async function renameInOthers(tx: Tx, environment: Environment, project: ProjectFacts, oldName: string): Promise<void> {
  for (const other of await othersOf(tx, environment)) {
    const { promotion } = other;
    if (!promotion?.after?.includes(oldName)) continue;
    const before = stateOf(other);
    const after = promotion.after.map((name) => (name === oldName ? environment.name : name));
    tx.em.assign(other, { promotion: { ...promotion, after } }, { mergeObjectProperties: false });
    await tx.em.flush();
    audit(tx, 'updated', other, project, { before, after: stateOf(other) });
  }
}

/**
 * The username of the org that a name means: registered sandboxes are known by their short names, too. Any other name
 * stays as it is. Throws `ambiguous` for a sandbox of several production orgs.
 */
async function usernameOf(tx: Tx, name: string | null): Promise<string | null> {
  if (name === null || mayBeUsername(name)) return name;
  const [username] = await tx.tell('orgNamed', name);
  return username ?? name;
}

/** Environments of all projects that name a sandbox by its short name have its username, as soon as that is known. */
export async function nameSandboxInEnvironments(tx: Tx, org: { id: string; username: string }): Promise<void> {
  for (const { id, name, repositoryIdentifier, shortName } of await useSandboxUsername(tx, org.id))
    audit(
      tx,
      'updated',
      { id, name },
      { identifier: repositoryIdentifier },
      { before: { orgUsername: shortName }, after: { orgUsername: org.username } },
    );
}

/**
 * Adds an environment to a project. Throws `already_exists`, `invalid_request` beyond `ENVIRONMENTS_MAX`, and
 * `ambiguous` for an org.
 */
export async function createEnvironment(tx: Tx, project: ProjectFacts, input: NewEnvironment): Promise<Environment> {
  await assertNameIsFree(tx, project.id, input.name);
  if ((await countEnvironments(tx, project.id)) >= ENVIRONMENTS_MAX) {
    throw new DomainError('invalid_request', `A project has at most ${ENVIRONMENTS_MAX} environments`);
  }
  const environment = tx.em.create(Environment, {
    devHubUsername: null,
    approvalPolicy: null,
    promotion: null,
    browser: null,
    verification: null,
    deploy: null,
    tags: [],
    metadata: {},
    ...definedMembers(input),
    orgUsername: await usernameOf(tx, input.orgUsername ?? null),
    tenantId: tx.tenantId,
    projectId: project.id,
  });
  await assertOrder(tx, environment);
  assertVerifiable(environment);
  await tx.em.flush();
  audit(tx, 'created', environment, project, { after: stateOf(environment) });
  return environment;
}

/**
 * Changes an environment; objects and arrays are replaced whole. Throws `not_found`, `already_exists` for a name that
 * is taken, `ambiguous` for an org, and `version_conflict` when `version` is not the current one.
 */
export async function updateEnvironment(
  tx: Tx,
  id: string,
  { version, ...fields }: Patch<Fields> & { version?: number | undefined },
): Promise<{ environment: Environment; project: ProjectFacts }> {
  const { environment, project } = await environmentById(tx, id, { forUpdate: true });
  if (version !== undefined && version !== environment.version) {
    throw versionConflict('The environment', environment.version);
  }
  const { name = environment.name } = fields;
  if (name !== environment.name) await assertNameIsFree(tx, project.id, name);
  const before = stateOf(environment);
  const { orgUsername } = fields;
  const named = orgUsername === undefined ? {} : { orgUsername: await usernameOf(tx, orgUsername) };
  tx.em.assign(environment, { ...definedMembers(fields), ...named }, { mergeObjectProperties: false });
  if (fields.promotion) await assertOrder(tx, environment);
  if (fields.verification) assertVerifiable(environment);
  else if (orgUsername !== undefined) assertVerifiable(environment, 'orgUsername');
  await tx.em.flush();
  audit(tx, 'updated', environment, project, { before, after: stateOf(environment) });
  if (name !== before.name) await renameInOthers(tx, environment, project, before.name);
  if (fields.promotion !== undefined || fields.branch !== undefined) await tx.tell('environmentChanged', environment);
  return { environment, project };
}

/** Environments of all projects that name an org by a username which it has no more name it by the one that it has now. */
export async function renameOrgInEnvironments(tx: Tx, from: string, to: string): Promise<void> {
  for (const { id } of await environmentsOfOrg(tx, from)) await updateEnvironment(tx, id, { orgUsername: to });
}

/**
 * Removes an environment with the records of its deployments. Throws `not_found`, and `invalid_transition` while another
 * takes a release only after it was deployed here.
 */
export async function removeEnvironment(tx: Tx, id: string): Promise<void> {
  const { environment, project } = await environmentById(tx, id, { forUpdate: true });
  const followers = followersOf(environment.name, await othersOf(tx, environment));
  if (followers.length > 0) {
    const detail = `${followers.join(', ')} take a release only after ${environment.name}: change \`promotion.after\` there first`;
    throw new DomainError('invalid_transition', detail);
  }
  await tx.em.remove(environment).flush();
  audit(tx, 'deleted', environment, project, { before: stateOf(environment) });
}
