import { adviceFor, isLockError } from '../../../../domain/delivery/org-deployments/platform-advice-rules.ts';

/** Texts as the platform writes them. */
test.each([
  ["An object 'A' of type ApexClass was named in package.xml, but was not found in zipped directory", '.forceignore'],
  [
    'Average test coverage across all Apex Classes and Triggers is 60%, at least 75% test coverage is required.',
    'RunSpecifiedTests',
  ],
  ['Test coverage of selected Apex Class is 0%, at least 75% test coverage is required', '75 %'],
  ['This schedulable class has jobs pending or in progress', 'Deployment Settings'],
  ['Invalid type: Schema.Invoice__c', 'does not exist in the org'],
  ['Variable does not exist: Total__c', 'deploy it as well'],
  ['Method does not exist or incorrect signature: void go() from the type A', 'deploy its class'],
  ['Dependent class is invalid and needs recompilation:\n Class B : Invalid type: C', 'does not exist in the org'],
  ['In field: field - no CustomField named Account.Region__c found', 'deploy it as well'],
  ['Unknown user permission: ManageQuotas', 'licence'],
  ['This custom field is referenced elsewhere in salesforce.com.', 'reference first'],
  ['DUPLICATE_DEVELOPER_NAME: The name is already in use', 'rename'],
  ['INSUFFICIENT_ACCESS: insufficient access rights on cross-reference id', 'Modify Metadata'],
  ['System.AssertException: Assertion Failed: Expected: 1, Actual: 2', 'compare both values'],
  ['System.NullPointerException: Attempt to de-reference a null object', 'value that is missing'],
  ['System.LimitException: Too many SOQL queries: 101', 'governor limit'],
  [
    'System.DmlException: Insert failed. First exception on row 0; first error: REQUIRED_FIELD_MISSING, Required fields are missing',
    'requires a field',
  ],
  ['System.DmlException: Insert failed; first error: FIELD_CUSTOM_VALIDATION_EXCEPTION, no', 'validation rule'],
  ['UNABLE_TO_LOCK_ROW: unable to obtain exclusive access to this record', 'same row'],
  ['UNKNOWN_EXCEPTION: An unexpected error occurred. Please include this ErrorId', 'error id'],
  ['LIMIT_EXCEEDED: maximum retry limit reached', 'gave up'],
])('%s', (text, advice) => {
  expect(adviceFor(text)).toContain(advice);
});

test('nothing is advised where nothing is known', () => {
  expect(adviceFor('Something quite new')).toBeNull();
});

test('what locks an org is told from what does not', () => {
  for (const text of [
    'ALREADY_IN_PROCESS: the administration setup has already been locked',
    'the request could not be completed: a background job is being executed',
    'LIMIT_EXCEEDED: maximum retry limit',
    'UNABLE_TO_LOCK_ROW',
  ])
    expect(isLockError(text)).toBe(true);
  expect(isLockError('INVALID_TYPE: no lock')).toBe(false);
});
