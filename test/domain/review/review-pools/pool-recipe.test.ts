import { builderOf, wantedBuilder } from '../../../../domain/review/review-pools/pool-builder.ts';
import { recipeOf } from '../../../../domain/review/review-pools/pool-recipe.schemas.ts';
import { signupErrorText } from '../../../../domain/review/review-pools/signup-rules.ts';
import type { Commands } from '../../../../domain/delivery/flows/programs/commands-file.ts';

const COMMAND = { program: 'true', args: [], timeoutSeconds: 1, env: {} };
const NONE: Commands = new Map();
const SOME: Commands = new Map([['pool-prepare', COMMAND]]);

test.each([
  [{}, NONE, null],
  [{}, SOME, 'command'],
  [{ newOrgs: 'scratch' }, NONE, 'activity'],
  [{ newOrgs: 'scratch' }, SOME, 'activity'],
  [{ newOrgs: 'command' }, NONE, null],
  [{ newOrgs: 'command' }, SOME, 'command'],
  [{ newOrgs: 'something' }, SOME, 'command'],
  [{ newOrgs: 'scratch', pipeline: { id: 'prepare.yml' } }, SOME, 'cicd'],
])('the definition %j has its orgs made by …', (definition, commands, builder) => {
  expect(builderOf({ definition }, commands)).toBe(builder);
});

test('a pipeline that is named goes before what the definition says', () => {
  expect(wantedBuilder({ newOrgs: 'scratch', pipeline: { id: 'prepare.yml' } })).toBeUndefined();
  expect(wantedBuilder({ newOrgs: 'scratch' })).toBe('service');
});

test('a recipe has its defaults, keeps what it does not know, and has bounds', () => {
  expect(recipeOf({ newOrgs: 'scratch', size: 'small' })).toEqual({
    newOrgs: 'scratch',
    size: 'small',
    definitionFile: 'config/project-scratch-def.json',
    durationDays: 7,
    packages: {},
    deploySource: true,
    permissionSets: [],
  });
  for (const wrong of [{ durationDays: 31 }, { durationDays: 0 }, { packages: { Base: 1 } }, { newOrgs: 'x' }])
    expect(() => recipeOf(wrong)).toThrow('does not say how orgs are made');
});

test('errors of signups are told with their code, and what they mean where that is known', () => {
  expect(signupErrorText('C-1007')).toBe('The dev hub could not make it (C-1007): its username is taken');
  expect(signupErrorText('X-1')).toBe('The dev hub could not make it (X-1)');
  expect(signupErrorText(null)).toContain('does not say why');
});
