import { eachAtOnce } from '../../../domain/kernel/shared/at-once-rules.ts';
import { within } from '../../../domain/kernel/queues/within.ts';
import {
  backedOffKeys,
  forgetSweepFailures,
  noteSweepFailure,
} from '../../../domain/kernel/system/sweep-failures.queries.ts';
import type { SweepReport } from '../../../workflows/kernel/system/sweeper.contract.ts';
import type { Deps } from '../../deps.ts';
import type { Sweep } from './define-sweep.ts';

/** No further row is begun after this time; less than the activity may take. */
const BUDGET_MS = 240_000;
/** A sweep whose rows take longer to list has failed. */
const LOOK_MS = 60_000;

/**
 * One pass of a sweep: deals with the rows that are due. One that fails is reported, backed off from and counted, and
 * keeps no other from its turn. Throws when the rows cannot be listed or failures not noted.
 */
export async function runSweep(deps: Deps, sweep: Sweep, signal?: AbortSignal): Promise<SweepReport> {
  const { system, log } = deps;
  const { name, limit, concurrency } = sweep;
  const deadline = Date.now() + BUDGET_MS;
  const { rows, backedOff } = await rowsOf(deps, sweep, limit, (await backedOffKeys(system, [name]))(name));
  const report = { found: 0, handled: 0, failed: 0, backedOff };

  const done: string[] = [];
  const handle = async ({ row, key }: (typeof rows)[number]) => {
    try {
      const units = (await within(sweep.rowTimeoutMs, sweep.handle(deps, row), () => tooLong(sweep.rowTimeoutMs))) ?? 1;
      report.found += units;
      report.handled += units;
      done.push(key);
    } catch (error) {
      report.found++;
      report.failed++;
      const attempts = await noteSweepFailure(system, name, key, String(error).slice(0, 1_000));
      log.warn({ err: error, sweep: name, row: key, attempts }, 'a row of a sweep failed and is backed off from');
    }
  };
  const isOver = () => signal?.aborted === true || Date.now() > deadline;
  await eachAtOnce(rows, concurrency, handle, { isOver });
  await forgetSweepFailures(system, name, done);
  if (report.handled > 0 && !sweep.isRoutine)
    log.warn({ sweep: name, ...report }, 'accepted work was found undone and executed');
  return report;
}

/** Up to `limit` rows that are due and not backed off from, and how many are. */
async function rowsOf(deps: Deps, sweep: Sweep, limit: number, left: ReadonlySet<string>) {
  // So many more are listed, so that rows which are backed off from leave no fewer for this pass.
  const listed = await sweep.due(deps, limit + left.size);
  const rows = listed.map((row) => ({ row, key: sweep.key(row) })).filter(({ key }) => !left.has(key));
  return { rows, backedOff: listed.length - rows.length };
}

/** The pass of a sweep that has nothing to do; undefined when it has. Throws when its rows cannot be listed. */
export async function lookForWork(
  deps: Deps,
  sweep: Sweep,
  left: ReadonlySet<string>,
): Promise<SweepReport | undefined> {
  const { rows, backedOff } = await within(LOOK_MS, rowsOf(deps, sweep, 1, left), () => tooLong(LOOK_MS));
  return rows.length > 0 ? undefined : { found: 0, handled: 0, failed: 0, backedOff };
}

function tooLong(timeoutMs: number): never {
  throw new Error(`It took longer than ${timeoutMs / 1_000} s`);
}
