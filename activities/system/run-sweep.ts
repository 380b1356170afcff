import { within } from '../../domain/shared/within.ts';
import { backedOffKeys, forgetSweepFailures, noteSweepFailure } from '../../domain/system/sweep-failures.queries.ts';
import type { SweepReport } from '../../workflows/system/sweeper.contract.ts';
import type { Deps } from '../deps.ts';
import type { Sweep } from './define-sweep.ts';

/** No further row is begun after this time; less than the activity may take. */
const BUDGET_MS = 240_000;

/**
 * One pass of a sweep: deals with the rows that are due. One that fails is reported, backed off from and counted, and
 * keeps no other from its turn. Throws when the rows cannot be listed or failures not noted.
 */
export async function runSweep(deps: Deps, sweep: Sweep, signal?: AbortSignal): Promise<SweepReport> {
  const { system, log } = deps;
  const { name, limit, concurrency } = sweep;
  const deadline = Date.now() + BUDGET_MS;
  const backedOff = await backedOffKeys(system, name);
  // So many more are listed, so that rows which are backed off from leave no fewer for this pass.
  const listed = await sweep.due(deps, limit + backedOff.size);
  const rows = listed.map((row) => ({ row, key: sweep.key(row) })).filter(({ key }) => !backedOff.has(key));
  const report = { found: 0, handled: 0, failed: 0, backedOff: listed.length - rows.length };

  const done: string[] = [];
  const next = rows.values();
  const worker = async () => {
    for (const { row, key } of next) {
      if (signal?.aborted || Date.now() > deadline) return;
      try {
        const units =
          (await within(sweep.rowTimeoutMs, sweep.handle(deps, row), () => tooLong(sweep.rowTimeoutMs))) ?? 1;
        report.found += units;
        report.handled += units;
        done.push(key);
      } catch (error) {
        report.found++;
        report.failed++;
        const attempts = await noteSweepFailure(system, name, key, String(error).slice(0, 1_000));
        log.warn({ err: error, sweep: name, row: key, attempts }, 'a row of a sweep failed and is backed off from');
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, rows.length) }, worker));
  await forgetSweepFailures(system, name, done);
  if (report.handled > 0 && !sweep.isRoutine)
    log.warn({ sweep: name, ...report }, 'accepted work was found undone and carried out');
  return report;
}

function tooLong(timeoutMs: number): never {
  throw new Error(`It took longer than ${timeoutMs / 1_000} s`);
}
