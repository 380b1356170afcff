import { environmentsNaming } from '../crm-orgs/crm-orgs.queries.ts';
import { registeredOrg } from '../crm-orgs/org-registration.ts';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import { listEnvironments, unknownEnvironment } from '../../projects/environments/environments.queries.ts';
import { projectInRequest } from '../../projects/projects/projects.queries.ts';
import { invalidField, notFound } from '../../kernel/shared/errors.ts';
import { shownLimits } from './limit-state-rules.ts';
import { orgLimitStatus } from './limit-status-rules.ts';
import { limitsOfOrg, orgOfEnvironment, polledOrgs } from './org-limits.queries.ts';

/**
 * The state of each registered org, by username; of a repository those that its environments or its list of dev hubs
 * name. Throws `invalid_request` for a repository that is not registered.
 */
export async function limitSummary(
  reads: Reads,
  repositoryIdentifier: string | undefined,
  { now, everyMs }: { now: Date; everyMs: number },
) {
  const project = repositoryIdentifier === undefined ? undefined : await projectInRequest(reads, repositoryIdentifier);
  const orgs = await polledOrgs(reads);
  const environments = await environmentsNaming(
    reads,
    orgs.map(({ username }) => username),
  );
  const ofProject = environments.filter((environment) =>
    project ? environment.repositoryIdentifier === project.identifier : true,
  );
  const byOrg = Map.groupBy(ofProject, ({ orgUsername }) => orgUsername);
  const devHubs = new Set(project?.configuration.devHubs?.map((username) => username.toLowerCase()));
  return orgs.flatMap(({ username, healthStatus, polledAt, failure, worst }) => {
    const labels = byOrg.get(username.toLowerCase()) ?? [];
    if (project && labels.length === 0 && !devHubs.has(username.toLowerCase())) return [];
    const facts = {
      health: healthStatus,
      polledAt: polledAt === null ? null : Date.parse(polledAt),
      failure,
      worstLevel: worst?.alertLevel ?? null,
    };
    return [
      {
        orgUsername: username,
        environmentLabels: labels.map(({ name, repositoryIdentifier: repository }) => ({
          name,
          repositoryIdentifier: repository,
        })),
        status: orgLimitStatus(facts, now.getTime(), everyMs),
        lastPolledAt: polledAt,
        worstLimit: worst,
      },
    ];
  });
}

export interface OrgChoice {
  /** Username, or name of a sandbox; takes precedence. */
  org?: string | undefined;
  environmentName?: string | undefined;
  repositoryIdentifier?: string | undefined;
}

/** The registered org that is asked for. Throws `invalid_request`, `not_found`, `ambiguous`. */
export async function chosenOrg(
  reads: Reads,
  { org, environmentName, repositoryIdentifier }: OrgChoice,
): Promise<{ id: string; username: string }> {
  if (org !== undefined) return registeredOrg({ reads }, org);
  if (environmentName === undefined)
    throw invalidField('org', 'Name an org, or an environment by environmentName and repositoryIdentifier');
  if (repositoryIdentifier === undefined)
    throw invalidField('repositoryIdentifier', 'An environment is named by its repository, too');
  const chosen = await orgOfEnvironment(reads, { repositoryIdentifier, environmentName });
  if (chosen) return chosen;
  const project = await projectInRequest(reads, repositoryIdentifier);
  const environments = await listEnvironments(reads, project.id);
  const environment = environments.find(({ name }) => name === environmentName);
  if (!environment) throw await unknownEnvironment(reads, project.id, environmentName);
  const { orgUsername } = environment;
  if (orgUsername === null) throw notFound(`An org of environment ${environmentName}`);
  throw notFound(`Org ${orgUsername} of environment ${environmentName}, which is not registered,`);
}

/** The limits of an org as the last poll found them; none before there was one. */
export const limitSnapshot = async (reads: Reads, orgId: string) => snapshotOf(await limitsOfOrg(reads, orgId));

/** The limits of an org from a state that was read; none before there was a poll. */
export function snapshotOf(state: Awaited<ReturnType<typeof limitsOfOrg>>) {
  const polledAt = state?.polledAt ?? null;
  if (!state || polledAt === null) return [];
  const sampledAt = new Date(polledAt).toISOString();
  return shownLimits(state.limits).map((limit) => ({ ...limit, sampledAt }));
}
