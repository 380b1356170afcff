import type { Tx } from '../../unit-of-work.ts';
import type { OfferedType } from '../flows/runs.hooks.ts';
import { whyNoOrg } from '../org-steps/org-of-run.ts';
import { NOBODY, selectionOf } from './freeze-rules.ts';
import { whyNotGiven } from './privilege-rules.ts';

type Payload = Readonly<Record<string, unknown>>;
const whyNobody = (payload: Payload): string | null => (selectionOf(payload) ? null : NOBODY);

const PEOPLE_TYPES: ReadonlyMap<string, (payload: Payload) => string | null> = new Map([
  ['request-freeze-users', whyNobody],
  ['request-unfreeze-users', whyNobody],
  ['request-elevated-privileges', whyNotGiven],
]);

/** Why the service cannot act on people in an org: no such org, or nobody is named. Null: it can. */
export async function whyNotPeople(tx: Tx, { id, run }: OfferedType): Promise<string | null> {
  const whyNot = PEOPLE_TYPES.get(id);
  if (!whyNot) return null;
  return (await whyNoOrg(tx, run)) ?? (run ? whyNot(run.payload) : null);
}
