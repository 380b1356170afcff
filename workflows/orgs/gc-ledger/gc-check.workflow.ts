import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
} from '@temporalio/workflow';
import type { GcCheckActivities } from '../../../activities/orgs/gc-ledger/gc-check.activities.ts';
import { eachAtOnce } from '../../../domain/kernel/shared/at-once-rules.ts';
import { OUTSIDE_CALL, UNTIL_DONE } from '../../activity-options.ts';
import { endsOnItsBuild } from '../../versioning.ts';
import type { GcCheckInput } from './gc-check.contract.ts';

const { checkOrg } = proxyActivities<GcCheckActivities>(OUTSIDE_CALL);
const { beginCheck, endCheck, recordUnchecked } = proxyActivities<GcCheckActivities>(UNTIL_DONE);

/** Orgs that one check asks at the same time. */
const ORGS_AT_ONCE = 4;

setWorkflowOptions(endsOnItsBuild, gcCheck);

/** Asks the orgs of a branch for the components of its ledger, each on its own: one that is away keeps no other from it. */
export async function gcCheck(input: GcCheckInput): Promise<void> {
  const names = await beginCheck(input);
  if (!names) return;
  const checked: Awaited<ReturnType<typeof checkOrg>>[] = [];
  await eachAtOnce(names, ORGS_AT_ONCE, async (environment) => {
    checked.push(await outcomeOf(input, environment));
    setCurrentDetails(`${checked.length} of ${names.length} environments checked`);
  });
  const environments = names.flatMap((name) => checked.filter(({ environment }) => environment === name));
  const isAnswered = environments.some(({ present, absent, error }) => error === null || present + absent > 0);
  const error = names.length === 0 || isAnswered ? null : 'No org answered';
  await endCheck({ ...input, environments, error });
  if (error !== null) throw ApplicationFailure.nonRetryable(error, 'check_failed');
}

async function outcomeOf(input: GcCheckInput, environment: string): ReturnType<typeof checkOrg> {
  try {
    return await checkOrg({ ...input, environment });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const unchecked = { environment, present: 0, absent: 0, unknown: 0, error: 'The check of this org did not end' };
    return recordUnchecked({ ...input, ...unchecked });
  }
}
