import { proxyActivities } from '@temporalio/workflow';

const { runTrue } = proxyActivities<{ runTrue: () => Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** The least that a run could be: one activity, which runs a program. */
export async function bareFlow(): Promise<void> {
  await runTrue();
}
