import { type AnalysisJob, decideJob } from '../../../../domain/insight/code-analysis/jobs/analysis-job-rules.ts';

const now = new Date('2026-03-02T12:00:00Z');
const endedAt = (minutesAgo: number) => new Date(now.getTime() - minutesAgo * 60_000).toISOString();
const job = (more: Partial<AnalysisJob>): AnalysisJob => ({
  jobId: 'j',
  status: 'failed',
  error: null,
  endedAt: endedAt(1),
  ...more,
});
const asked = (latest: AnalysisJob | undefined, isForced = false) => decideJob(latest, { isForced, now });

test('the first request starts a job, and those that come while it is open get it, forced or not', () => {
  expect(asked(undefined)).toEqual({ kind: 'start' });
  for (const isForced of [false, true])
    for (const status of ['dispatched', 'running', 'waiting_approval'] as const)
      expect(asked(job({ status, endedAt: null }), isForced)).toEqual({ kind: 'running', jobId: 'j' });
});

test.each([
  [job({ error: 'no Java' }), 'no Java'],
  [job({ status: 'timed_out' }), 'The analysis failed'],
  [job({ status: 'cancelled' }), 'The analysis was cancelled'],
  [job({ status: 'succeeded' }), expect.stringContaining('published no results')],
])('after one that brought nothing none starts for 15 minutes, unless forced', (latest, message) => {
  expect(asked(latest)).toEqual({ kind: 'failed', jobId: 'j', message });
  expect(asked({ ...latest, endedAt: endedAt(14.9) })).toMatchObject({ kind: 'failed' });
  expect(asked({ ...latest, endedAt: endedAt(15) })).toEqual({ kind: 'start' });
  expect(asked(latest, true)).toEqual({ kind: 'start' });
});
