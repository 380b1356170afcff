import {
  type MeasuredDeployment,
  measure,
  windowsOf,
} from '../../../../domain/delivery/releases/measures/metrics-rules.ts';

const at = (text: string) => Date.parse(`2026-${text}Z`);
const HOUR = 3_600_000;
const deployment = (moment: string, more: Partial<MeasuredDeployment> = {}): MeasuredDeployment => ({
  at: at(moment),
  isSuccess: true,
  rolledBackAt: null,
  leadTimes: [],
  ...more,
});
const whole = { from: at('03-01T00:00'), to: at('03-11T00:00') };

test.each([
  ['day', ['03-01T12:00', '03-02T00:00', '03-03T00:00', '03-03T06:00']],
  ['week', ['03-01T12:00', '03-02T00:00', '03-03T06:00']],
  ['month', ['03-01T12:00', '03-03T06:00']],
  ['all', ['03-01T12:00', '03-03T06:00']],
] as const)('a time is cut into windows of a %s', (interval, edges) => {
  const windows = windowsOf({ from: at('03-01T12:00'), to: at('03-03T06:00') }, interval);
  expect([windows[0]?.from, ...windows.map(({ to }) => to)]).toEqual(edges.map(at));
});

test('months and weeks begin where the calendar has them', () => {
  expect(windowsOf({ from: at('01-31T23:00'), to: at('03-05T00:00') }, 'month').map(({ to }) => to)).toEqual([
    at('02-01T00:00'),
    at('03-01T00:00'),
    at('03-05T00:00'),
  ]);
  // 2026-03-02 and 09 are Mondays.
  expect(windowsOf({ from: at('02-28T00:00'), to: at('03-10T00:00') }, 'week').map(({ to }) => to)).toEqual([
    at('03-02T00:00'),
    at('03-09T00:00'),
    at('03-10T00:00'),
  ]);
});

test('of nothing there are no measures', () => {
  expect(measure([], [whole])).toEqual([
    {
      deployments: { successful: 0, failed: 0, rolledBack: 0, perDay: 0 },
      leadTime: { medianSeconds: null, p90Seconds: null, commits: 0 },
      changeFailureRate: null,
      timeToRestore: { medianSeconds: null, failures: 0, restored: 0 },
    },
  ]);
});

test('frequency, failures and lead times of a window', () => {
  const [measures] = measure(
    [
      deployment('03-01T10:00', { leadTimes: [HOUR, 2 * HOUR, 3 * HOUR] }),
      deployment('03-02T10:00', { isSuccess: false }),
      // The same failure goes on.
      deployment('03-02T11:00', { isSuccess: false }),
      deployment('03-02T14:00', { leadTimes: [10 * HOUR] }),
      deployment('03-05T10:00', { rolledBackAt: at('03-05T12:00') }),
      deployment('03-12T10:00'),
    ],
    [whole],
  );
  expect(measures).toEqual({
    deployments: { successful: 3, failed: 2, rolledBack: 1, perDay: 0.3 },
    // The lead times are 1, 2, 3 and 10 hours.
    leadTime: { medianSeconds: 9_000, p90Seconds: 36_000, commits: 4 },
    changeFailureRate: 0.6,
    // The failures took two and four hours.
    timeToRestore: { medianSeconds: 10_800, failures: 2, restored: 2 },
  });
});

test('a failure counts where it began, though it is restored later; one that is taken back restores nothing', () => {
  const deployments = [
    deployment('03-01T10:00', { isSuccess: false }),
    deployment('03-01T12:00', { rolledBackAt: at('03-01T13:00') }),
    deployment('03-03T10:00'),
    deployment('03-04T10:00', { isSuccess: false }),
  ];
  const measures = measure(deployments, [
    { from: at('03-01T00:00'), to: at('03-02T00:00') },
    { from: at('03-02T00:00'), to: at('03-05T00:00') },
  ]);
  expect(measures.map(({ timeToRestore }) => timeToRestore)).toEqual([
    { medianSeconds: 88_200, failures: 2, restored: 2 },
    { medianSeconds: null, failures: 1, restored: 0 },
  ]);
});
