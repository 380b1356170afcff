import { msToNumber } from '@temporalio/common/lib/time.js';
import { REPORT_STEP } from '../../../../workflows/activity-options.ts';

test('a step of a report is retried for about an hour, and then the report fails', () => {
  const { initialInterval, backoffCoefficient, maximumInterval, maximumAttempts } = REPORT_STEP.retry;
  const waits = Array.from({ length: maximumAttempts - 1 }, (_, retry) =>
    Math.min(msToNumber(initialInterval) * backoffCoefficient ** retry, msToNumber(maximumInterval)),
  );
  const minutes = waits.reduce((sum, wait) => sum + wait, 0) / 60_000;
  expect(minutes).toBeGreaterThan(50);
  expect(minutes).toBeLessThan(70);
});
