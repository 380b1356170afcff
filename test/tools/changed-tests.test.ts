import { featuresOf, testFoldersOf } from '../../tools/changed-tests.ts';

const FILES = [
  'test/api/events/webhooks/webhooks.test.ts',
  'test/workflows/events/webhooks/lane.test.ts',
  'test/domain/events/webhooks/rules.test.ts',
  'test/domain/delivery/flows/rules.test.ts',
  'test/tools/start.test.ts',
];
const OF_WEBHOOKS = ['test/api/events/webhooks/', 'test/domain/events/webhooks/', 'test/workflows/events/webhooks/'];

test('a feature has tests in every layer, at any depth', () => {
  expect(testFoldersOf(['webhooks'], FILES)).toEqual(OF_WEBHOOKS);
  expect(testFoldersOf(['hooks'], FILES)).toEqual([]);
});

test.each([
  [['domain/events/webhooks/lane-rules.ts'], OF_WEBHOOKS],
  [['api/events/webhooks/webhooks.routes.ts'], [...OF_WEBHOOKS, 'test/contract/'].toSorted()],
  [['test/domain/delivery/flows/rules.test.ts'], ['test/domain/delivery/flows/rules.test.ts']],
  [['tools/start.ts'], ['test/tools/']],
  [['migrations/Migration1_x.ts'], ['test/domain/kernel/data/', 'test/upgrade/']],
  [['docs/operations/run.md'], []],
])('%j needs %j', (changed, folders) => {
  expect(featuresOf(changed, FILES)).toEqual({ folders });
});

test.each(['domain/kernel/shared/ids.ts', 'test/support/app.ts', 'package-lock.json'])('%s needs all', (file) => {
  expect(featuresOf([file], FILES)).toEqual({ folders: [], reason: `nearly all depend on ${file}` });
});
