import { groupOf, isGroup, primaryEvent } from '../../../../domain/events/webhooks/subscription-rules.ts';

test.each([
  ['release.published', 'release.*'],
  ['a.b.c', 'a.*'],
  ['push', 'push'],
  ['release.*', 'release.*'],
  ['flow.progress', 'flow.progress'],
])('the group of %s is %s', (event, group) => {
  expect(groupOf(event)).toBe(group);
});

test('a group is no event', () => {
  expect(['release.*', 'release.published', 'x'].map(isGroup)).toEqual([true, false, false]);
});

const KNOWN = ['deployment.started', 'release.created', 'release.published'];
test.each([
  [['release.published'], 'release.published'],
  [['release.*', 'deployment.started'], 'deployment.started'],
  [['release.*'], 'release.created'],
  [['unknown.*'], 'unknown'],
])('webhooks of %j are tested with %s', (events, event) => {
  expect(primaryEvent(events, KNOWN)).toBe(event);
});
