import { manifestOfChangeSet } from '../../../../domain/delivery/org-deployments/change-set-rules.ts';
import { builtWith, withDefaults } from '../../../../domain/delivery/org-deployments/deploy-settings-rules.ts';
import { settingsDigest } from '../../../../domain/delivery/org-deployments/settings-digest.ts';
import { FailedPaths } from '../../../../domain/delivery/org-deployments/failure-path-rules.ts';
import { DeploySettingsSchema } from '../../../../domain/projects/policies/deploy-settings.ts';

const REPLACED = { replacements: [{ find: 'a', replaceWith: 'b' }] };

test('settings are told apart by what changes what is built', () => {
  const digest = (deploy: Parameters<typeof builtWith>[0]) => settingsDigest(builtWith(deploy));
  expect(digest(null)).toBeNull();
  expect(digest({ settings: { testLevel: 'RunLocalTests' }, replacements: [] })).toBeNull();
  expect(digest(REPLACED)).toBe(digest({ ...REPLACED, settings: { ignoreWarnings: false } }));
  expect(digest(REPLACED)).not.toBe(digest({ ignoredPaths: ['a'] }));
});

test.each([
  [{}, { testLevel: 'RunSpecifiedTests', tests: ['A'], ignoreWarnings: false }],
  [{ testLevel: 'NoTestRun' }, { testLevel: 'NoTestRun', ignoreWarnings: false }],
  [
    { tests: ['B'], ignoreWarnings: true },
    { tests: ['B'], ignoreWarnings: true },
  ],
  [{ quickDeployOf: 'x' }, { quickDeployOf: 'x', ignoreWarnings: false }],
])('a payload goes before its environment: %j', (payload, merged) => {
  const settings = { testLevel: 'RunSpecifiedTests' as const, tests: ['A'], ignoreWarnings: false };
  expect(withDefaults(payload, { settings })).toEqual(merged);
  expect(withDefaults(payload, null)).toEqual(payload);
});

test.each([
  [{ replacements: [{ find: '', replaceWith: 'b' }] }, false],
  [{ settings: { testLevel: 'RunSpecifiedTests' } }, false],
  [{ settings: { tests: ['A'] } }, false],
  [{ replacements: Array.from({ length: 50 }, () => ({ find: 'a', replaceWith: 'x'.repeat(2_000) })) }, false],
  [{ ...REPLACED, ignoredPaths: ['app/**'], settings: {} }, true],
])('settings are bounded: %#', (settings, isGood) => {
  expect(DeploySettingsSchema.safeParse(settings).success).toBe(isGood);
});

test.each([
  ['classes/Invoice.cls', 'ApexClass Invoice', 'app/classes/Invoice.cls', true],
  ['layouts/A.layout', 'Layout A', 'app/layouts/A.layout-meta.xml', true],
  [
    'objects/Rating__c.object',
    'CustomField Rating__c.Stars__c',
    'app/objects/Rating__c/fields/Stars__c.field-meta.xml',
    false,
  ],
  ['objects/Rating__c.object', 'CustomObject Rating__c', 'app/objects/Rating__c/Rating__c.object-meta.xml', false],
  ['classes/Twice.cls', 'ApexClass Twice', undefined, false],
  ['classes/Absent.cls', 'ApexClass Absent', undefined, false],
])('the file of %s, %s', (file, subject, path, hasLines) => {
  const failed = { file, subject };
  const paths = new FailedPaths([failed]);
  for (const each of [
    'app/classes/Invoice.cls',
    'app/classes/Invoice.cls-meta.xml',
    'app/classes/MyInvoice.cls',
    'app/layouts/A.layout-meta.xml',
    'app/objects/Rating__c/Rating__c.object-meta.xml',
    'app/objects/Rating__c/fields/Stars__c.field-meta.xml',
    'app/classes/Twice.cls',
    'ui/classes/Twice.cls',
  ])
    paths.look(each);
  expect(paths.of(failed)).toEqual(path === undefined ? undefined : { path, hasLines });
});

test('a change set is deployed without the name of its package', () => {
  const read = manifestOfChangeSet(
    '<Package><fullName>Spring</fullName><description>x</description><types><members>A</members><members>B</members><name>ApexClass</name></types><version>66.0</version></Package>',
  );
  expect(read?.components).toBe(2);
  expect(read?.xml).toContain(
    '<types><members>A</members><members>B</members><name>ApexClass</name></types><version>66.0</version></Package>',
  );
  expect(read?.xml).not.toContain('Spring');
  expect(manifestOfChangeSet('<Package><version>x</version></Package>')).toBeUndefined();
  expect(manifestOfChangeSet('<types>'.repeat(100_000))).toBeUndefined();
});
