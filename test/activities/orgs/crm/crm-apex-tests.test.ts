import { longId } from '../../../../domain/orgs/crm/org-id-rules.ts';
import { accessTo, simulatedPlatform, valueOf } from '../../../support/crm.ts';

const given = simulatedPlatform();

test('the id of a job is in its long form, in whichever the org gives it', async () => {
  const simulated = given.crm.org('acme');
  const jobId = '707Ab000000cDeF';
  simulated.fail({ kind: 'reply', status: 200, body: JSON.stringify(jobId) }, { path: /runTests/ });
  const org = given.platform.org(accessTo(given.platform, simulated));
  const order = { testLevel: 'RunLocalTests', classNames: [], suiteNames: [], maxFailedTests: null } as const;
  expect(valueOf(await org.startTests(order))).toEqual({ jobId: longId(jobId) });
});
