import { z } from 'zod';
import { fieldErrors, PARSING } from '../../kernel/shared/input-errors.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import { mapOf, openObject, trimmedText } from '../../kernel/overrides/large-maps.ts';
import { Name } from '../../projects/policies/pipeline.schemas.ts';

/** What makes the orgs of a pool: the service, as scratch orgs or sandboxes, or the operator's command. */
const NEW_ORGS = ['scratch', 'sandbox', 'command'] as const;

const Names = z.array(Name).max(500);

/** How the service makes the orgs of a pool: members of its definition, beside which there may be others. */
const Recipe = z.looseObject({
  newOrgs: z.enum(NEW_ORGS).optional(),
  /** Where scratch orgs are made: the username of a registered one. */
  devHub: Name.optional(),
  /** How sandboxes are made, as in the payload of `request-sandbox-create`. */
  sandbox: openObject().optional(),
  definitionFile: Name.default('config/project-scratch-def.json'),
  branch: Name.optional(),
  durationDays: z.int().min(1).max(30).default(7),
  packages: mapOf(trimmedText(255), trimmedText(255)).default({}),
  deploySource: z.boolean().default(true),
  sourcePackages: Names.optional(),
  permissionSets: Names.default([]),
  /** For the operator's command `pool-command`, which runs for each org where this is there. */
  command: openObject().optional(),
});
export type PoolRecipe = z.output<typeof Recipe>;

/** How the orgs of a pool are made. Throws `invalid_request`, with the fields of the definition. */
export function recipeOf(definition: Readonly<Record<string, unknown>>): PoolRecipe {
  const parsed = Recipe.safeParse(definition, PARSING);
  if (parsed.success) return parsed.data;
  const fields = [...fieldErrors('definition', parsed.error.issues)];
  throw new DomainError('invalid_request', 'The definition does not say how orgs are made', { fields });
}

/** What a definition names to make orgs; undefined: nothing, or what nobody knows. */
export const newOrgsOf = ({ newOrgs }: Readonly<Record<string, unknown>>): (typeof NEW_ORGS)[number] | undefined =>
  NEW_ORGS.find((each) => each === newOrgs);
