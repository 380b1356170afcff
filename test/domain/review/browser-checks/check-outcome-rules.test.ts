import { failureText, playedSteps, stepLine } from '../../../../domain/review/browser-checks/check-outcome-rules.ts';

const recording = {
  title: 'Smoke',
  steps: [
    { type: 'navigate' as const, url: 'https://x.test/' },
    { type: 'close' as const },
    { type: 'keyDown' as const, key: 'Enter' },
  ],
};

test('each step has its state: those after one that failed were not played', () => {
  const failure = { reason: 'navigation_failed', detail: 'The page did not load' } as const;
  const steps = playedSteps(recording, [
    { at: 0, durationMs: 1_234 },
    { at: 1, durationMs: 50, failure },
  ]);
  expect(steps).toEqual([
    { number: 1, type: 'navigate', what: 'navigate to https://x.test/', state: 'passed', durationMs: 1_234 },
    { number: 2, type: 'close', what: 'close the page', state: 'failed', durationMs: 50, ...failure },
    { number: 3, type: 'keyDown', what: 'press Enter', state: 'skipped' },
  ]);
  expect(steps.map(stepLine)).toEqual([
    '1. navigate to https://x.test/: passed after 1.2 s',
    '2. close the page: failed after 0.1 s: The page did not load',
    '3. press Enter: skipped',
  ]);
  expect(steps[1] && failureText(steps[1], 3)).toBe('Step 2 of 3, close the page, failed: The page did not load');
});
