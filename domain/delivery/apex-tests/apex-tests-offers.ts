import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { whyNoOrg } from '../org-steps/org-of-run.ts';
import { whyNoTests } from './apex-test-rules.ts';

/** Why the service cannot run Apex tests: no such org, or what is named are none. Null: it can. */
export async function whyNotTested(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  if (id !== 'run-apex-tests') return null;
  return (await whyNoOrg(tx, run)) ?? (run ? whyNoTests(run.payload) : null);
}
