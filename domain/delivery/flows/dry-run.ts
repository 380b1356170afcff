import { DomainError, type ErrorCode, type HoldMember } from '../../kernel/shared/errors.ts';
import { projectById } from '../../projects/projects/projects.queries.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { wishOf } from '../org-deployments/deploy-order-rules.ts';
import { releaseOfRun } from '../org-releases/release-of-run.ts';
import { cannotDoByCandidates } from '../org-releases/rollback-limits.ts';
import { changesToCome, type ChangesToCome, type ChangesSource } from '../releases/changes-to-come.ts';
import { type DryRunGates, gatesToPass, holdToPass, type ToPass } from './dry-run-gates.ts';
import { type RunContext, runById } from './flow-runs.queries.ts';
import type { RunPayload } from './flow-payloads.ts';
import { type FlowType, flowType } from './flow-types.ts';
import { acceptNewRun, releaseOf } from './new-runs.mutations.ts';
import type { RunPlace } from './new-runs.queries.ts';
import { parsePayload } from './parse-payload.ts';
import type { Commands } from './programs/commands-file.ts';
import type { ExecutorName } from './programs/executor-rules.ts';
import { stagesOf } from './promoted-runs.ts';
import { currentGates, hasWindowsOf } from './run-begins.mutations.ts';
import { gatesInRequest } from './run-refusals.ts';

/** What would become of a request for a run. */
export interface DryRun {
  /** It would be accepted; it may wait at its gates then. */
  wouldStart: boolean;
  refusal: { code: ErrorCode; detail: string } | null;
  executor: ExecutorName | null;
  /** Null: nothing would execute it, or its child runs pass gates of their own. */
  gates: DryRunGates | null;
  /** What holds its release back; null: nothing. */
  hold: HoldMember | null;
  /** What it would change in its environment, the one of several in which that is the most; null: it takes no release there. */
  changes: ChangesToCome | null;
  /** What a rollback by the service cannot take back, as far as its releases say it. */
  cannotDo: string[];
}

interface DryRunOptions {
  requestId: string;
  commands: Commands;
  source: ChangesSource;
}

/** Ends a transaction of which nothing is kept. */
class RolledBack extends Error {
  readonly seen: DryRun;
  constructor(seen: DryRun) {
    super('a dry run keeps nothing');
    this.seen = seen;
  }
}

/** Mistakes of the request itself, which stay errors. */
const MISTAKES: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'unauthenticated', 'forbidden']);

/**
 * What would become of a run, by the very rules of one: it is accepted in a transaction that is rolled back. Throws
 * `invalid_request` and `forbidden`; what else would refuse the run is the answer, with the gates as they are.
 */
export async function dryRun(
  unit: UnitOfWork,
  payload: Record<string, unknown>,
  { requestId, ...options }: DryRunOptions,
): Promise<DryRun> {
  const kept = (rehearse: (tx: Tx) => Promise<DryRun>) =>
    unit(async (tx): Promise<DryRun> => {
      throw new RolledBack(await rehearse(tx));
    }).catch((error: unknown) => {
      if (error instanceof RolledBack) return error.seen;
      throw error;
    });
  try {
    return await kept(async (tx) => {
      const { runId } = await acceptNewRun(tx, payload, { requestId, commands: options.commands });
      return rehearsed(tx, runId, options);
    });
  } catch (error) {
    if (!(error instanceof DomainError) || MISTAKES.has(error.code) || error.code === 'unavailable') throw error;
    const { code, message: detail } = error;
    const refusal = { wouldStart: false, refusal: { code, detail } };
    return kept(async (tx) => ({ ...(await refused(tx, payload, options)), ...refusal }));
  }
}

type Options = Omit<DryRunOptions, 'requestId'>;

async function rehearsed(tx: Tx, runId: string, { commands, source }: Options): Promise<DryRun> {
  const run = await runById(tx, runId);
  const type = flowType(run.taskType);
  const current = await currentGates(tx, run, commands);
  if (!type || !current) throw new Error('a run that nothing executes was accepted');
  const { executor, gates, hasWindows } = current;
  const seen = await look(tx, { ...run, type, gates, hasWindows }, executor, source);
  const cannotDo = await whatStays(tx, run, executor);
  return { wouldStart: true, refusal: null, executor, ...seen, cannotDo };
}

/** What is known of a run that would be refused. */
async function refused(
  tx: Tx,
  given: Record<string, unknown>,
  { commands, source }: Options,
): Promise<Omit<DryRun, 'wouldStart' | 'refusal'>> {
  const { type, payload: asked } = parsePayload(given, 'payload/', {});
  const { place, payload, executor, gates } = await gatesInRequest(tx, type, asked, { prefix: 'payload/', commands });
  const release = { projectId: place?.projectId ?? null, domain: payload.domain ?? null };
  const releaseName = await nameOfRelease(tx, type, payload, place);
  const run = { ...release, releaseName, type, payload, override: payload.override ?? null, gates };
  if (!executor) {
    const hold = await holdToPass(tx, run, gates.environmentIds);
    return { executor: null, gates: null, hold, changes: null, cannotDo: [] };
  }
  const toPass = { ...run, hasWindows: hasWindowsOf(type, executor, gates) };
  return { executor, ...(await look(tx, toPass, executor, source)), cannotDo: [] };
}

async function look(
  tx: Tx,
  run: ToPass,
  executor: ExecutorName,
  source: ChangesSource,
): Promise<Pick<DryRun, 'gates' | 'hold' | 'changes'>> {
  const isInStages = executor === 'children';
  const environmentIds = isInStages ? await stageIds(tx, run) : run.gates.environmentIds;
  const { gates, hold } = await gatesToPass(tx, run, environmentIds);
  const changes = await changesToCome(tx, source, run, environmentIds);
  return { gates: isInStages ? null : gates, hold, changes };
}

/** The environments to which the children of a run take its release. */
async function stageIds(tx: Tx, { projectId, payload }: ToPass): Promise<string[]> {
  const project = projectId === null ? undefined : await projectById(tx, projectId);
  if (!project) return [];
  const stages = await stagesOf(tx, { projectId: project.id, defaultBranch: project.defaultBranch }, payload);
  return stages.map(({ id }) => id);
}

/** The release that a request is about; null: a rollback that goes to nothing. */
async function nameOfRelease(
  tx: Tx,
  type: FlowType,
  payload: RunPayload,
  place: RunPlace | undefined,
): Promise<string | null> {
  try {
    return (await releaseOf(tx, type, payload, place)).releaseName ?? null;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

async function whatStays(tx: Tx, run: RunContext, executor: ExecutorName): Promise<string[]> {
  if (executor !== 'activity' || !flowType(run.taskType)?.isRollback) return [];
  const release = await releaseOfRun(tx, run);
  if (typeof release === 'string') return [];
  const { takenBack = {}, packages } = release;
  return cannotDoByCandidates(takenBack, packages.artifacts, wishOf(run.payload));
}
