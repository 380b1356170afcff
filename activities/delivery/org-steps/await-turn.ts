import { noteWaitAtWork } from '../../../domain/delivery/flows/flow-runs.queries.ts';
import { takeTurn } from '../../../domain/delivery/org-steps/org-turns.queries.ts';
import type { Pending } from '../flows/operations.activities.ts';
import { inUnit, type OrgWork } from './org-work.ts';

const AGAIN_SECONDS = 15;

/**
 * Takes the turn of a run to change its org, which it keeps until it ends; or says when to ask again. The platform runs one
 * deployment at a time, which installs of packages compete with.
 */
export const awaitTurn = ({ run, org, ...work }: OrgWork): Promise<Pending | undefined> =>
  inUnit(work, async (tx) => {
    const before = await takeTurn(tx, { orgId: org.orgId, runId: run.id });
    const text = before && `Waits for run ${before.runId} (${before.taskType}) in the same org`;
    await noteWaitAtWork(tx, run.id, text ?? null);
    return text === undefined ? undefined : { againInSeconds: AGAIN_SECONDS, text };
  });
