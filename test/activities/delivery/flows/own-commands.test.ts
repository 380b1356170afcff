import { createOwnCommandActivities } from '../../../../activities/delivery/flows/commands.activities.ts';
import type { CommandRuns } from '../../../../activities/delivery/flows/command-runs.ts';
import type { Deps } from '../../../../activities/deps.ts';

const commandRuns: Pick<CommandRuns, 'find'> = { find: () => undefined };
const { followCommand } = createOwnCommandActivities({ flows: { commandRuns } } as unknown as Deps);
const RUN = { tenantId: '1', tenantSlug: 'acme', runId: '2' };

test('a command that is not there any more has been ended for a run that was cancelled; else it is lost', async () => {
  await expect(followCommand({ ...RUN, isCancelled: true })).resolves.toEqual({ status: 'cancelled' });
  await expect(followCommand(RUN)).resolves.toMatchObject({ status: 'timed_out' });
});
