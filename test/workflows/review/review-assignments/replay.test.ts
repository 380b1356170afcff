import {
  assignmentChangedSignal,
  reviewAssignmentContract,
} from '../../../../workflows/review/review-assignments/review-assignment.contract.ts';
import { reviewPoolContract } from '../../../../workflows/review/review-pools/review-pool.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { reviewStage } from '../../../support/review.ts';
import { startWorker } from '../../../support/worker.ts';

test.each(['review-assignment', 'review-pool'])('%s goes on with the code of today', (name) => replay(name));

/**
 * Records the histories anew: `RECORD_HISTORIES=1 npm test -- test/workflows/review/review-assignments/replay`. An assignment
 * waits, gets an org, is extended, refused an extension, announced as ending and expires; its pool serves the line.
 */
recording('records the histories', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['environment-locks-v1']);
  try {
    const { assign, orgs, poolId, repositoryIdentifier } = await reviewStage(app, { onRelease: 'reuse' });
    const owner = app.as(app.owner);
    const { id } = await assign({ assignmentId: '118' }, 202);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await orgs(1);
    const path = `/api/review/assignments/${id}`;
    await owner.post(200, `${path}/extend`, { hours: 30 });
    await owner.post(409, `${path}/extend`, { hours: 720 });
    await app.sql(
      `update review_assignment set assigned_at = now() - interval '1 day', expires_at = now() + interval '2 seconds',
         warned_at = null where id = ?`,
      [id],
    );
    const assignment = {
      ...app.tenantKey,
      assignmentId: id,
      repositoryIdentifier,
      subject: 'pr 118',
      target: 'review',
    };
    await app.launch.signalWithStart(reviewAssignmentContract, assignment, assignmentChangedSignal);
    await keep('review-assignment', app.launch.idOf(reviewAssignmentContract, assignment));
    const pool = { ...app.tenantKey, poolId, poolTag: 'review', repositoryIdentifier };
    await keep('review-pool', app.launch.idOf(reviewPoolContract, pool));
  } finally {
    await worker.stop();
    await app.close();
  }
});
