import { saysNothing } from '../../../../domain/delivery/verification/check-run-rules.ts';
import { FINAL_STATUSES, isSuccess, type RunStatus } from '../../../../domain/delivery/flows/run-status-rules.ts';

/** Ends in which something was found out. */
const FOUND: ReadonlySet<RunStatus> = new Set(['failed', 'partial']);

test.each(FINAL_STATUSES.filter((status) => !isSuccess(status)))(
  'a check whose run ended as %s says something only if it failed by itself',
  (status) => {
    const isFound = FOUND.has(status);
    expect(saysNothing({ status, result: {} }, false)).toBe(!isFound);
    expect(saysNothing({ status, result: { failedStep: 3 } }, true)).toBe(!isFound);
    expect(saysNothing({ status, result: { failedStep: null } }, true)).toBe(true);
    expect(saysNothing({ status }, true)).toBe(true);
    for (const code of ['unknown_outcome', 'lock_lost', 'outside_window'])
      expect(saysNothing({ status, result: { code, failedStep: 3 } }, true)).toBe(true);
  },
);
