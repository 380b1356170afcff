import type { CrmAnswer, CrmFailure } from '../../../domain/orgs/crm/crm-platform.port.ts';

/** The org did not do what it was called for. */
export class OrgCallFailed extends Error {
  readonly failure: CrmFailure;
  constructor(failure: CrmFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** What an org answered; throws within `actInOrg`, which ends or repeats the step. */
export function answered<Value>(answer: CrmAnswer<Value>): Value {
  if (answer.isOk) return answer.value;
  throw new OrgCallFailed(answer);
}
