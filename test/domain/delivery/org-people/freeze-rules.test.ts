import {
  type OrgLogin,
  type OrgUser,
  outcomeOfPeople,
  planFreeze,
  selectionOf,
} from '../../../../domain/delivery/org-people/freeze-rules.ts';
import { missingGrants, refusalText } from '../../../../domain/delivery/org-people/privilege-rules.ts';
import {
  assignmentsOf,
  permissionSetsNamed,
  usersNamed,
} from '../../../../domain/delivery/org-people/people-soql-rules.ts';

const user = (id: string, more: Partial<OrgUser> = {}): OrgUser => ({
  id,
  username: `${id}@x.example`,
  isActive: true,
  userType: 'Standard',
  ...more,
});
const login = (userId: string, more: Partial<OrgLogin> = {}): OrgLogin => ({
  id: `login-${userId}`,
  userId,
  isFrozen: false,
  changedBy: null,
  changedAt: null,
  ...more,
});
const NONE = { usernames: [], profiles: [], permissionSets: [], allExcept: undefined };

function planned(
  users: readonly OrgUser[],
  {
    logins = users.map(({ id }) => login(id)),
    administrators = [] as string[],
    integrations = [] as string[],
    ...more
  } = {},
  facts: Partial<Parameters<typeof planFreeze>[0]> = {},
) {
  const plan = planFreeze({
    selection: { ...NONE, usernames: users.map(({ username }) => username) },
    users,
    logins: new Map(logins.map((each) => [each.userId, each])),
    protectedUsers: { ownId: 'own', administrators: new Set(administrators), integrations: new Set(integrations) },
    isFreeze: true,
    since: undefined,
    ...more,
    ...facts,
  });
  return {
    change: plan.change.map(({ user: { id } }) => id),
    ...Object.fromEntries(plan.results.map(({ username, outcome }) => [username.split('@')[0], outcome])),
  };
}

test.each([
  ['the own user of the service', [user('own')], {}, { change: [], own: 'refused' }],
  ['users of the platform', [user('auto', { userType: 'AutomatedProcess' })], {}, { change: [], auto: 'refused' }],
  ['who is not active', [user('gone', { isActive: false })], {}, { change: [], gone: 'refused' }],
  ['who has no login record', [user('odd')], { logins: [] }, { change: [], odd: 'failed' }],
  ['a named integration user is frozen', [user('robot')], { integrations: ['robot'] }, { change: ['robot'] }],
  [
    'all administrators at once',
    [user('a'), user('b')],
    { administrators: ['a', 'b', 'own'] },
    { change: [], a: 'refused', b: 'refused' },
  ],
  ['an administrator beside another', [user('a')], { administrators: ['a', 'b'] }, { change: ['a'] }],
  [
    'an administrator beside a frozen one',
    [user('a')],
    { administrators: ['a', 'b'], logins: [login('a'), login('b', { isFrozen: true })] },
    { change: [], a: 'refused' },
  ],
])('%s', (_, users, facts, expected) => {
  expect(planned(users, facts)).toEqual(expected);
});

test('what the step did before it was repeated is its own', () => {
  const changedAt = '2026-03-02T10:00:05Z';
  const logins = [
    login('a', { isFrozen: true, changedBy: 'own', changedAt }),
    login('b', { isFrozen: true, changedBy: 'other', changedAt }),
    login('c', { isFrozen: true, changedBy: 'own', changedAt: '2026-03-01T00:00:00Z' }),
  ];
  const users = [user('a'), user('b'), user('c')];
  const since = '2026-03-02T10:00:00Z';
  expect(planned(users, { logins }, { since })).toEqual({ change: [], a: 'frozen', b: 'was_frozen', c: 'was_frozen' });
  expect(planned(users, { logins })).toMatchObject({ a: 'was_frozen' });
});

test('all but some, where those who cannot be frozen make nothing partial', () => {
  const selection = { ...NONE, allExcept: ['B@x.example'] };
  const plan = planned([user('a'), user('b'), user('own')], {}, { selection });
  expect(plan).toEqual({ change: ['a'], own: 'refused' });
  const results = [
    { username: 'own', outcome: 'refused' as const },
    { username: 'a', outcome: 'frozen' as const },
  ];
  expect(outcomeOfPeople(results, { isEverybody: true })).toBe('succeeded');
  expect(outcomeOfPeople(results, { isEverybody: false })).toBe('partial');
  expect(outcomeOfPeople(results.slice(0, 1), { isEverybody: false })).toBe('failed');
});

test('a payload that names nobody selects nobody; an empty list of exceptions is everybody', () => {
  expect(selectionOf({ usernames: [] })).toBeUndefined();
  expect(selectionOf({ allExcept: [] })).toMatchObject({ allExcept: [] });
});

test('only what people lack is granted', () => {
  const users = [user('a'), user('b')];
  const sets = [
    { id: 's', name: 'S', isGroup: false },
    { id: 'g', name: 'G', isGroup: true },
  ];
  const missing = missingGrants(users, sets, [{ id: '1', userId: 'a', setId: 's' }]);
  expect(missing.map(({ user: { id }, set }) => id + set.id)).toEqual(['ag', 'bs', 'bg']);
});

test('all reasons of a refusal are shown', () => {
  const errors = [
    { code: 'LICENSE_LIMIT_EXCEEDED', message: 'no more licenses' },
    { code: 'FIELD_INTEGRITY_EXCEPTION', message: 'needs the user license' },
  ];
  expect(refusalText(errors)).toBe(
    'no more licenses (LICENSE_LIMIT_EXCEEDED); needs the user license (FIELD_INTEGRITY_EXCEPTION)',
  );
});

test('names cannot leave their literals, and those of managed packages lose their namespace', () => {
  expect(usersNamed(["o'neil@x.example') OR Id != null --"])).toContain(
    "IN ('o\\'neil@x.example\\') OR Id != null --')",
  );
  expect(permissionSetsNamed(['acme__Deploy', 'Local'])).toContain("Name IN ('Deploy', 'Local')");
  expect(assignmentsOf(['005'])).toContain("AssigneeId IN ('005')");
});
