import { z } from 'zod';
import { DEPLOY_TEST_LEVELS } from './deploy-settings-rules.ts';

const text = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\0]*$/, 'must not have the character NUL');
const PathPattern = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ description: 'Path in the repository: `*` matches within a segment, `**` across segments' });

const Replacement = z.strictObject({
  find: text(1_000).min(1).meta({ description: 'As it is in the files: no pattern' }),
  replaceWith: text(4_000).meta({ description: 'Static text: everybody who sees the environment sees it' }),
  files: z.array(PathPattern).min(1).max(20).optional().meta({ description: 'In these files; in all when absent' }),
});

const Defaults = z
  .strictObject({
    testLevel: z.enum(DEPLOY_TEST_LEVELS).optional(),
    tests: z.array(z.string().trim().min(1).max(255)).max(500).optional().meta({
      description: 'Test classes, for `RunSpecifiedTests`',
    }),
    ignoreWarnings: z.boolean().optional().meta({
      description: 'Whether warnings of the platform fail nothing; default: true',
    }),
  })
  .refine(
    ({ testLevel, tests = [] }) => (testLevel === 'RunSpecifiedTests') === tests.length > 0,
    'RunSpecifiedTests names its tests, and no other level does',
  );

const BYTES_MAX = 65_536;

/** How source is deployed to the org of an environment. */
export const DeploySettingsSchema = z
  .strictObject({
    replacements: z.array(Replacement).max(50).optional().meta({
      description: 'Texts that the environment has otherwise than the repository',
    }),
    ignoredPaths: z.array(PathPattern).max(50).optional().meta({
      description: 'What is neither deployed nor deleted here, beside what `.forceignore` lists',
    }),
    settings: Defaults.optional().meta({
      description: 'For runs whose payload says nothing else',
    }),
  })
  .refine(
    (settings) => JSON.stringify(settings).length <= BYTES_MAX,
    `must not have more than ${BYTES_MAX} characters`,
  );
