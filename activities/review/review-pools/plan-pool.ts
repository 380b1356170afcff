import {
  readScratchDefinition,
  type ScratchDefinition,
} from '../../../domain/review/review-pools/scratch-definition-rules.ts';
import { ORGS_PER_RUN, stepsOfPool } from '../../../domain/review/review-pools/pool-parts.ts';
import { countLive, refreshingInstances } from '../../../domain/review/review-pools/review-instances.queries.ts';
import { commandOf } from '../../../domain/delivery/flows/programs/commands-file.ts';
import { findRun } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { isFinal } from '../../../domain/delivery/flows/run-status-rules.ts';
import { POOL_PARTS } from '../../../domain/delivery/flows/flow-categories.ts';
import type { NewStep } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import { fetchCommit } from '../../code/git/fetched-commits.ts';
import { remoteOfRun } from '../../delivery/source/remote-of-run.ts';
import { answered } from '../../delivery/org-steps/org-call-failed.ts';
import { inUnit } from '../../delivery/org-steps/org-work.ts';
import type { PoolWork } from './pool-work.ts';

const DEFINITION_BYTES_MAX = 256 * 1024;
const cannotGo = (why: string) => new DomainError('flow_unavailable', why);

/** What a run is to do, found out before anything is created. Throws `flow_unavailable` where it cannot. */
export async function planPool(work: PoolWork): Promise<NewStep[]> {
  const { run, recipe, pool, deps, org } = work;
  if (recipe.command && !commandOf(deps.flows.commands, POOL_PARTS.command))
    throw cannotGo(
      `The pool names a command: have the operator add ${POOL_PARTS.command} to the list of commands (COMMANDS_FILE)`,
    );
  await assertOnlyRun(work);
  const { live, refreshing } = await inUnit(work, async (tx) => ({
    live: await countLive(tx, pool.id),
    refreshing: (await refreshingInstances(tx, pool.id)).map(({ username }) => username),
  }));
  const { refresh } = run.payload;
  const named = new Set((Array.isArray(refresh) ? refresh : []).map((username) => String(username).toLowerCase()));
  const isScratch = recipe.newOrgs === 'scratch';
  const retired = (isScratch ? refreshing : [])
    .filter((username) => named.has(username.toLowerCase()))
    .slice(0, ORGS_PER_RUN);
  const { count = 1 } = run.payload;
  const asked = (typeof count === 'number' ? count : 1) + retired.length;
  const room = Math.max(0, pool.maxInstances - live) + retired.length;
  const wanted = Math.min(asked, room, ORGS_PER_RUN);
  if (wanted === 0) return [];
  const limit = isScratch ? await limitOf(work, retired.length) : { left: wanted, text: '' };
  if (limit.left === 0) throw cannotGo(limit.text);
  const { definition, commitId } = await definitionOf(work);
  const made = Math.min(wanted, limit.left);
  return stepsOfPool({
    runId: run.id,
    hubId: org.orgId,
    count: made,
    retired: retired.slice(0, made),
    recipe,
    definition,
    commitId,
    asked: wanted,
    whyFewer: made < wanted ? `${made} of ${wanted} orgs could be made: ${limit.text}` : null,
  });
}

/** The pool's own run goes before one that somebody starts beside it. */
async function assertOnlyRun({ deps, tenant, run, pool: { prepareRunId } }: PoolWork): Promise<void> {
  if (prepareRunId === null || prepareRunId === run.id) return;
  const other = await findRun(deps.reads.as(systemActor(tenant, 'flow')), prepareRunId);
  if (other && !isFinal(other.status)) throw cannotGo(`The run ${prepareRunId} makes orgs for the pool already`);
}

/** How many scratch orgs the dev hub can still make; a limit that it does not show is not known here. */
async function limitOf({ org }: PoolWork, retired: number): Promise<{ left: number; text: string }> {
  const limits = answered(await org.calls.limits());
  const found = ['DailyScratchOrgs', 'ActiveScratchOrgs'].flatMap((name) => {
    const limit = limits.find((each) => each.name === name);
    if (!limit) return [];
    const left = Math.max(0, limit.remaining) + (name === 'ActiveScratchOrgs' ? retired : 0);
    return [
      { left, text: `the dev hub ${org.username} has ${limit.remaining} of ${limit.max} left of its limit ${name}` },
    ];
  });
  const [least] = found.toSorted((one, other) => one.left - other.left);
  return least ?? { left: ORGS_PER_RUN, text: '' };
}

/** The definition file at the head of the pool's branch, which sandboxes do without. */
async function definitionOf({
  deps,
  tenant,
  run,
  recipe,
  signal,
}: PoolWork): Promise<{ definition: ScratchDefinition; commitId: string }> {
  const { repositoryIdentifier, defaultBranch } = run;
  const found = await remoteOfRun(deps, tenant, run);
  if (!found.isOk) throw cannotGo(found.reason);
  const { mirror, remote } = found.value;
  const { mirrors } = deps.git;
  const branch = recipe.branch ?? defaultBranch ?? 'main';
  const head = await fetchCommit(mirrors, { mirror, remote, wanted: undefined, branch }, signal);
  if (!head.isOk) throw cannotGo(head.reason);
  const commitId = head.value;
  if (recipe.newOrgs !== 'scratch') return { definition: { fields: {}, settings: {} }, commitId };
  const { definitionFile } = recipe;
  const text = await mirrors.file(mirror, remote, commitId, definitionFile, DEFINITION_BYTES_MAX);
  if (text === undefined)
    throw cannotGo(
      `${repositoryIdentifier} has no ${definitionFile} at ${commitId.slice(0, 8)} of ${branch}, or it is too large`,
    );
  const definition = readScratchDefinition(text);
  if (typeof definition === 'string')
    throw cannotGo(`${definitionFile} at ${commitId.slice(0, 8)} cannot be used: ${definition}`);
  return { definition, commitId };
}
