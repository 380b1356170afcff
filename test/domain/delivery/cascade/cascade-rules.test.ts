import { stepsOf, whyNoStep } from '../../../../domain/delivery/cascade/cascade-rules.ts';

const cascade = [
  { from: 'hotfix/*', to: 'main' },
  { from: 'main', to: 'uat' },
  { from: 'uat', to: 'dev' },
  { from: 'dev', to: 'feature/*' },
];

test.each([
  ['hotfix/7', [{ from: 'hotfix/7', to: 'main' }]],
  ['main', [{ from: 'main', to: 'uat' }]],
  ['dev', []],
  ['other', []],
  [
    undefined,
    [
      { from: 'main', to: 'uat' },
      { from: 'uat', to: 'dev' },
    ],
  ],
])('the merges of %s', (branch, steps) => {
  expect(stepsOf(cascade, branch)).toEqual(steps);
});

test('it says why there is nothing to merge', () => {
  expect(whyNoStep([], 'main')).toMatch(/has no cascade/);
  expect(whyNoStep(cascade, 'dev')).toMatch(/does not go on from dev/);
  expect(whyNoStep([{ from: 'hotfix/*', to: 'main' }], undefined)).toMatch(/name the branch/);
  expect(whyNoStep(cascade, 'main')).toBeNull();
});
