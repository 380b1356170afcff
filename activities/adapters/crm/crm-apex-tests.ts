import type { CrmApexTests } from '../../../domain/orgs/crm/crm-apex-tests.port.ts';
import { idOf, shaped } from './crm-org.ts';
import type { CrmSession } from './crm-session.ts';

/** Apex tests of an org (developer.salesforce.com, Tooling API, "runTestsAsynchronous"). */
export const createCrmApexTests = (session: CrmSession): CrmApexTests => ({
  async startTests({ testLevel, classNames, suiteNames, methods, maxFailedTests }) {
    const selected =
      testLevel === 'RunSpecifiedTests'
        ? {
            ...(classNames.length > 0 && { classNames: classNames.join(',') }),
            ...(suiteNames.length > 0 && { suiteNames: suiteNames.join(',') }),
          }
        : {};
    const body = methods
      ? { tests: methods.map(({ className, methods: testMethods }) => ({ className, testMethods })) }
      : { testLevel, ...selected };
    const more = { skipCodeCoverage: false, ...(maxFailedTests !== null && { maxFailedTests }) };
    const answer = shaped(
      await session.call({ path: '/tooling/runTestsAsynchronous', body: { ...body, ...more } }),
      idOf('707'),
    );
    return answer.isOk ? { isOk: true, value: { jobId: answer.value } } : answer;
  },
});
