import { z } from 'zod';
import { type WarningCode, WARNINGS, WARNINGS_MAX } from '../../domain/kernel/shared/warning-rules.ts';

const CODES = Object.keys(WARNINGS) as [WarningCode, ...WarningCode[]];

const Warning = z
  .object({
    code: z.enum(CODES).meta({
      description: CODES.map((code) => `- \`${code}\`: ${WARNINGS[code]}`).join('\n'),
    }),
    message: z.string().meta({ description: 'A sentence for people' }),
    pointer: z
      .string()
      .meta({ description: 'JSON pointer into this resource', example: '#/configuration/packagePaths/core' }),
  })
  .meta({ id: 'Warning', description: 'What is valid, but probably not meant' });

/**
 * The member `warnings` of a reply about one resource. Lists do not have it, since each entry would need look-ups of
 * its own.
 * @param codes that the resource can have.
 */
export const warningsOf = (...codes: WarningCode[]) => ({
  warnings: z.array(Warning).meta({
    description: `Empty if nothing is suspicious; at most ${WARNINGS_MAX} of a kind, with the codes ${codes.map((code) => `\`${code}\``).join(', ')}. What depends on the remote is found once it has been fetched`,
  }),
});
