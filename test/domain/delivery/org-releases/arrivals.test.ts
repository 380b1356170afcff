import { arrivalsOf, hasChangedOrg } from '../../../../domain/delivery/org-releases/arrivals.ts';
import type { StepState } from '../../../../domain/delivery/org-steps/org-step-rules.ts';

const step = (state: StepState, intent: object = {}, more: object = {}) => ({
  state,
  intent: { ...intent },
  orgId: 'org' as string | null,
  externalId: null as string | null,
  error: null as string | null,
  detail: null as string | null,
  ...more,
});

test.each<[StepState, object, boolean]>([
  ['planned', {}, false],
  ['asked', {}, true],
  ['begun', {}, true],
  ['unknown', {}, true],
  ['succeeded', {}, true],
  ['succeeded', { orgId: null }, false],
  ['failed', {}, false],
  ['failed', { externalId: '0Hf' }, true],
  ['skipped', {}, false],
  ['cancelled', {}, false],
])('a step that is %s %j changed the org: %s', (state, more, expected) => {
  expect(hasChangedOrg([step(state, {}, more)])).toBe(expected);
});

test('an artifact has arrived where all steps that bring it are through', () => {
  const artifacts = { a: '1', b: '2', c: '3', d: '4', e: '5' };
  const steps = [
    step('succeeded', { artifacts: ['a'] }),
    step('skipped', { artifacts: ['b'] }),
    step('skipped', { artifacts: ['c'], isLeft: true }, { detail: 'the org has the later 4' }),
    step('succeeded', { artifacts: ['d'] }, { orgId: null }),
    step('failed', { artifacts: ['d'] }, { error: 'no such field' }),
  ];
  expect(arrivalsOf(steps, artifacts)).toEqual({
    packages: { a: '1', b: '2' },
    details: [
      { name: 'a', version: '1', status: 'installed' },
      { name: 'b', version: '2', status: 'skipped', skipped: true },
      { name: 'c', version: '3', status: 'not installed', error: 'the org has the later 4' },
      { name: 'd', version: '4', status: 'failed', error: 'no such field' },
    ],
  });
});
