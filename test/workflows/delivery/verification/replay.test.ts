import { newId } from '../../../../domain/kernel/shared/ids.ts';
import {
  verificationChangedSignal,
  verificationContract,
} from '../../../../workflows/delivery/verification/verification.contract.ts';
import { testApp } from '../../../support/app.ts';
import { recording, replay } from '../../../support/histories.ts';
import { cutRelease, success } from '../../../support/releases.ts';
import { eventually, startWorker } from '../../../support/worker.ts';

test('a verification that is under way goes on with the code of today', () => replay('verification'));

/** Records the history anew: `RECORD_HISTORIES=1 npm test -- test/workflows/delivery/verification/replay`. */
recording('records the history', async ({ keep }) => {
  const app = await testApp();
  const worker = await startWorker(app, ['flows-v1', 'releases-v1']);
  const repositoryIdentifier = 'acme/recorded';
  try {
    await app.as(app.owner).post(201, '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
    await app.as(app.owner).post(201, '/api/environments', {
      repositoryIdentifier,
      name: 'uat',
      category: 'test',
      verification: { checks: [{ type: 'metric', query: 'vector(1)', max: 2, minutes: 60 }] },
    });
    await cutRelease(app, repositoryIdentifier, 'r1');
    const report = success(repositoryIdentifier, 'r1', 'uat', { executionId: newId() });
    await app.as(app.application).post(200, '/api/release-candidates/release-event', report);
    const [{ id: verificationId } = { id: '' }] = await app.sql<{ id: string }>('select id from verification');
    const input = { ...app.tenantKey, verificationId };
    await eventually(
      () => app.sql(`select from verification_check where state = 'running'`),
      ({ length }) => length === 1,
    );
    await app.sql(`update verification set begun_at = begun_at - interval '61 minutes'`);
    await app.launch.signal(verificationContract, input, verificationChangedSignal);
    await keep('verification', app.launch.idOf(verificationContract, input));
  } finally {
    await worker.stop();
    await app.close();
  }
});
