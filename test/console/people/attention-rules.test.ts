import {
  bodyOf,
  emptinessOf,
  isDoneByRequest,
  isWholeRequest,
} from '../../../console/people/attention/attention-rules.ts';

const since = '2026-11-01T00:00:00.000Z';
const action = (operation: string, method = 'POST', isAllowed = true) => ({ operation, method, path: '/', isAllowed });

test.each<[ReturnType<typeof action>, { isDone: boolean; isWhole: boolean; body: object | undefined }]>([
  [action('recoverWebhookDeliveries'), { isDone: true, isWhole: true, body: { since } }],
  [action('rerunFlowRun'), { isDone: true, isWhole: true, body: undefined }],
  [action('fetchProjectMirror', 'POST', false), { isDone: false, isWhole: true, body: undefined }],
  [action('grantApproval'), { isDone: false, isWhole: true, body: undefined }],
  [action('updateWebhook', 'PATCH'), { isDone: false, isWhole: false, body: undefined }],
  [action('getEnvironmentLockQueue', 'GET'), { isDone: false, isWhole: true, body: undefined }],
])('the request of %j', (given, { isDone, isWhole, body }) => {
  expect(isDoneByRequest({ action: given })).toBe(isDone);
  expect(isWholeRequest({ action: given })).toBe(isWhole);
  expect(bodyOf({ action: given, since })).toEqual(body);
});

test.each([
  [undefined, undefined, [], 'nothing'],
  [undefined, undefined, ['run_failed'], 'unknown'],
  ['run_failed', undefined, [], 'noMatch'],
  ['run_failed', undefined, ['limit_forecast'], 'noMatch'],
  ['run_failed', undefined, ['run_failed'], 'unknown'],
  [undefined, 'acme/shop', [], 'noMatch'],
  [undefined, 'acme/shop', ['run_failed'], 'unknown'],
])('an empty list of kind %s and project %s, without an answer of %j, says %s', (kind, project, incomplete, said) => {
  expect(emptinessOf({ kind, project }, incomplete)).toBe(said);
});
