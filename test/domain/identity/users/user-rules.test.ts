import type { Actor, Role } from '../../../../domain/kernel/shared/actor.ts';
import {
  assertMayChange,
  assertMayRemove,
  assertMayView,
  assertHasOwner,
  type UserChange,
} from '../../../../domain/identity/users/user-rules.ts';

const person = (id: string, role: Role): Actor => ({
  type: 'user',
  id,
  tenantId: 't',
  tenantSlug: 't',
  role,
  email: `${id}@example.com`,
});
const pipeline: Actor = { ...person('ci', 'application'), type: 'application' };
const [owner, member, helper] = [person('o', 'owner'), person('m', 'member'), person('h', 'application')];

test.each<[string, Actor, Actor | undefined, UserChange, boolean]>([
  ['a member changes the own name', member, member, { firstName: 'Robin' }, true],
  ['a member names the role that it has', member, member, { role: 'member' }, true],
  ['a member raises itself', member, member, { role: 'owner' }, false],
  ['a member raises itself by one step', member, member, { role: 'application' }, false],
  ['a member joins a team', member, member, { teams: ['approvers'] }, false],
  ['a person of role application lowers itself', helper, helper, { role: 'member' }, false],
  ['a person of role application raises itself', helper, helper, { role: 'owner' }, false],
  ['a member changes another name', member, owner, { firstName: 'Robin' }, false],
  ['a member changes nobody', member, undefined, { firstName: 'Robin' }, false],
  ['a pipeline changes a name', pipeline, member, { firstName: 'Robin' }, false],
  ['a pipeline whose id is that of a person', { ...pipeline, id: member.id }, member, { firstName: 'Robin' }, false],
  ['an owner raises a member', owner, member, { role: 'owner' }, true],
  ['an owner lowers itself', owner, owner, { role: 'member' }, true],
  ['an owner puts itself into a team', owner, owner, { teams: ['approvers'] }, true],
])('%s: %#', (_, actor, subject, change, isAllowed) => {
  const attempt = () => assertMayChange(actor, subject, change);
  if (isAllowed) expect(attempt).not.toThrow();
  else expect(attempt).toThrow(/Forbidden/);
});

test('a member sees itself and nobody else', () => {
  expect(() => assertMayView(member, member)).not.toThrow();
  expect(() => assertMayView(member, owner)).toThrow(/Requires role: owner, application/);
  expect(() => assertMayView(member, undefined)).toThrow(/Requires role: owner, application/);
  expect(() => assertMayView(owner, member)).not.toThrow();
  expect(() => assertMayView(pipeline, member)).not.toThrow();
});

test('nobody removes themselves, and an owner stays', () => {
  expect(() => assertMayRemove(owner, owner)).toThrow(/Nobody removes themselves/);
  expect(() => assertMayRemove(owner, member)).not.toThrow();
  expect(() => assertHasOwner(0)).toThrow(expect.objectContaining({ code: 'last_owner' }));
  expect(() => assertHasOwner(1)).not.toThrow();
});
