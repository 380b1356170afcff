import { setImmediate } from 'node:timers/promises';
import type { Reads } from '../../../kernel/data/fenced-reads.ts';
import { invalidField } from '../../../kernel/shared/errors.ts';
import type { ApprovalPolicy } from '../../../projects/policies/approval-policy-rules.ts';
import { termsOf } from '../../../projects/policies/approval-policy.ts';
import type { PromotionPolicy } from '../../../projects/policies/promotion-policy-rules.ts';
import { listEnvironments } from '../../../projects/environments/environments.queries.ts';
import type { ProjectFacts } from '../../../projects/projects/projects.queries.ts';
import type { DeploymentLog } from '../../deployments/deployment-log-cache.ts';
import { contentOf, EnvironmentPast, judgePast, type PastDeployment } from '../../promotion/backtest-rules.ts';
import { BacktestTally, type EnvironmentBacktest } from './backtest-tally.ts';
import { medianResponses, originsOf, pastVerifications } from './policy-backtest.queries.ts';

export interface ProposedBacktest {
  /** Absent: what each environment has now. */
  promotion?: PromotionPolicy | undefined;
  /** Absent: nothing about approvals changes. */
  approvalPolicy?: ApprovalPolicy | undefined;
  /** Names; absent: the active ones of category `release`. */
  environments?: readonly string[] | undefined;
  from: Date;
  to: Date;
}

const DAY_MS = 24 * 3_600_000;
const DAYS_MAX = 180;
export const DEPLOYMENTS_MAX = 5_000;
/** Deployments that are gone through before others are served. */
const AT_ONCE = 100;

/**
 * What would have become of the past deployments of a project under a policy, each by itself, by the rules of runs. It
 * stores nothing. Throws `invalid_request` for unknown environments, a time that is too long, and too many deployments.
 */
export async function backtestPolicy(
  reads: Reads,
  log: DeploymentLog,
  project: ProjectFacts,
  proposed: ProposedBacktest,
): Promise<EnvironmentBacktest[]> {
  const { promotion, from, to } = proposed;
  if (from >= to) throw invalidField('to', 'must be after `from`');
  if (to.getTime() - from.getTime() > DAYS_MAX * DAY_MS)
    throw invalidField('from', `at most ${DAYS_MAX} days are looked at`);
  const environments = await listEnvironments(reads, project.id);
  assertKnown(environments, proposed.environments ?? [], 'environments');
  assertKnown(environments, promotion?.after ?? [], 'promotion/after');
  const chosen = environments.filter(({ name, isActive, category }) =>
    proposed.environments ? proposed.environments.includes(name) : isActive && category === 'release',
  );
  const policies = promotion ? [promotion] : chosen.map((each) => each.promotion);
  const past = await pastOfProject(reads, log, environments, policies);
  const isInTime = ({ at, status }: PastDeployment) =>
    status !== 'Cancelled' && at >= from.getTime() && at < to.getTime();
  const tested = chosen.map((each) => ({ ...each, deployments: past.deploymentsOf(each.id).filter(isInTime) }));
  const ids = tested.flatMap(({ deployments }) => deployments.map(({ id }) => id));
  if (ids.length > DEPLOYMENTS_MAX)
    throw invalidField('from', `${ids.length} deployments are more than ${DEPLOYMENTS_MAX}: choose a shorter time`);
  const origins = await originsOf(reads, project.id, ids);
  const costOf = await approvalCosts(reads, proposed, chosen);
  const results: EnvironmentBacktest[] = [];
  for (const { id, name, promotion: own, deployments } of tested) {
    const { isAsked, medianMs } = costOf(id);
    const tally = new BacktestTally(name, { isAsked, medianMs });
    for (const [index, deployment] of deployments.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
      const { bornAt = null, isApproved = false } = origins.get(deployment.id) ?? {};
      const isAskedAnew = isAsked && !isApproved;
      const approvalMs = isAskedAnew ? medianMs : null;
      const policy = { environmentName: name, promotion: promotion ?? own, approvalMs };
      const judged = judgePast(deployment, policy, past.of, past.artifactsOf(deployment));
      tally.add(deployment, judged, { bornAt, lacksCost: isAskedAnew && medianMs === null });
    }
    results.push(tally.shown());
  }
  return results;
}

/** Whether environments ask for an approval by the proposed policy, and what that costs there; null: nobody knows. */
async function approvalCosts(
  reads: Reads,
  { approvalPolicy: policy, to: now }: ProposedBacktest,
  environments: readonly { id: string; category: string }[],
): Promise<(id: string) => { isAsked: boolean; medianMs: number | null }> {
  if (!policy) return () => ({ isAsked: false, medianMs: null });
  const asking = environments.filter(
    ({ category }) =>
      termsOf({ policies: [{ policy, isForRelease: category === 'release' }], run: undefined, now }) !== undefined,
  );
  const ids = asking.map(({ id }) => id);
  const medians = await medianResponses(reads, ids);
  return (id) => ({ isAsked: ids.includes(id), medianMs: medians.get(id) ?? null });
}

function assertKnown(known: readonly { name: string }[], names: readonly string[], field: string): void {
  const unknown = names.findIndex((name) => !known.some((each) => each.name === name));
  if (unknown >= 0) throw invalidField(`${field}/${unknown}`, `${names[unknown]} is not an environment of the project`);
}

interface KnownEnvironment {
  id: string;
  name: string;
}

/** What was deployed where, as far as policies ask for it. */
async function pastOfProject(
  reads: Reads,
  log: DeploymentLog,
  environments: readonly KnownEnvironment[],
  policies: readonly (PromotionPolicy | null)[],
) {
  const byEnvironment = Map.groupBy(
    log.places.flatMap(({ environmentId, domain, deployments }) =>
      deployments.map((each) => ({ ...each, domain, environmentId })),
    ),
    ({ environmentId }) => environmentId,
  );
  const asked = new Set(policies.flatMap((policy) => policy?.after ?? []));
  const isVerified = policies.some((policy) => policy?.requireVerified);
  const before = environments.filter(({ name }) => asked.has(name));
  const verifications = isVerified
    ? await pastVerifications(
        reads,
        before.map(({ id }) => id),
      )
    : new Map();
  const pasts = new Map(
    before.map(({ id, name }) => [
      name,
      new EnvironmentPast(byEnvironment.get(id) ?? [], (deployment) => verifications.get(deployment) ?? []),
    ]),
  );
  const artifacts = artifactsByContent([...byEnvironment.values()].flat());
  return {
    of: (name: string) => pasts.get(name),
    deploymentsOf: (id: string): readonly PastDeployment[] => byEnvironment.get(id) ?? [],
    artifactsOf: (deployment: PastDeployment) => artifacts.get(contentOf(deployment)) ?? deployment.packages,
  };
}

/** The packages of contents: what a deployment of all of it installed, else what all its deployments did. */
function artifactsByContent(deployments: readonly PastDeployment[]): Map<string, Record<string, string>> {
  const byContent = Map.groupBy(deployments, contentOf);
  return new Map(
    [...byContent].map(([key, own]) => {
      const whole = own.find(({ installsAll, status }) => installsAll && status === 'Success');
      return [key, whole ? whole.packages : Object.assign({}, ...own.map(({ packages }) => packages))];
    }),
  );
}
