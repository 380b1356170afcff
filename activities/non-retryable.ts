import { ApplicationFailure } from '@temporalio/common';
import { DomainError } from '../domain/kernel/shared/errors.ts';
import { REFUSED } from '../workflows/delivery/flows/flow-run.contract.ts';

/** What was removed, or makes no sense, does not come by trying again: the workflow gets the refusal at once. */
export async function asNonRetryable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw ApplicationFailure.nonRetryable(error.message, REFUSED);
    throw error;
  }
}
