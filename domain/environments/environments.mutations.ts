import type { ProjectFacts } from '../projects/projects.queries.ts';
import { DomainError, versionConflict } from '../shared/errors.ts';
import { definedMembers, type Patch } from '../shared/merge-rules.ts';
import type { Tx } from '../unit-of-work.ts';
import { Environment } from './environments.entities.ts';
import { countEnvironments, ENVIRONMENTS_MAX, environmentById, environmentByName } from './environments.queries.ts';

type Fields = Omit<Environment, 'id' | 'tenantId' | 'projectId' | 'createdAt' | 'updatedAt' | 'version'>;
export type NewEnvironment = Patch<Fields> & Pick<Fields, 'name' | 'category'>;

/** What of an environment stands in the audit trail. */
const stateOf = ({ tenantId: _t, createdAt: _c, updatedAt: _u, version: _v, ...state }: Environment) => ({ ...state });

const audit = (
  tx: Tx,
  action: 'created' | 'updated' | 'deleted',
  { id, name }: Environment,
  { identifier }: ProjectFacts,
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

/** Adds an environment to a project. Throws `already_exists`, and `invalid_request` beyond `ENVIRONMENTS_MAX`. */
export async function createEnvironment(tx: Tx, project: ProjectFacts, input: NewEnvironment): Promise<Environment> {
  await assertNameIsFree(tx, project.id, input.name);
  if ((await countEnvironments(tx, project.id)) >= ENVIRONMENTS_MAX) {
    throw new DomainError('invalid_request', `A project has at most ${ENVIRONMENTS_MAX} environments`);
  }
  const environment = tx.em.create(Environment, {
    orgUsername: null,
    devHubUsername: null,
    approvalPolicy: null,
    tags: [],
    metadata: {},
    ...definedMembers(input),
    tenantId: tx.tenantId,
    projectId: project.id,
  });
  await tx.em.flush();
  audit(tx, 'created', environment, project, { after: stateOf(environment) });
  return environment;
}

/**
 * Changes an environment; objects and arrays are replaced whole. Throws `not_found`, `already_exists` for a name that
 * is taken, and `version_conflict` when `version` is not the current one.
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
  tx.em.assign(environment, definedMembers(fields), { mergeObjectProperties: false });
  await tx.em.flush();
  audit(tx, 'updated', environment, project, { before, after: stateOf(environment) });
  return { environment, project };
}

/** Removes an environment with the records of its deployments. Throws `not_found`. */
export async function removeEnvironment(tx: Tx, id: string): Promise<void> {
  const { environment, project } = await environmentById(tx, id, { forUpdate: true });
  await tx.em.remove(environment).flush();
  audit(tx, 'deleted', environment, project, { before: stateOf(environment) });
}
