import { z } from 'zod';
import { Timestamp } from '../http/parameters.ts';

/** What holds a release candidate, where that is the reason of something else. */
export const HoldMember = z.object({
  source: z.enum(['person', 'verification']),
  reason: z.string(),
  until: Timestamp.nullable(),
  environmentName: z.string().nullable(),
});

/** What holds a release candidate now. */
export const Hold = z
  .object({
    source: z.enum(['person', 'verification']).meta({
      description:
        '`person`: somebody holds it, from all environments. `verification`: its content failed a verification in `environmentName`, and is held from the environments after that',
    }),
    reason: z.string(),
    until: Timestamp.nullable().meta({ description: 'When it is over by itself; null: when it is lifted' }),
    by: z.string().meta({ description: 'E-mail of the person, or name of the token, who holds it' }),
    since: Timestamp,
    environmentName: z.string().nullable().meta({ description: 'Null for the hold of a person' }),
  })
  .meta({ id: 'ReleaseHold' });

export const HoldOfCandidate = Hold.nullable().default(null).meta({
  description: 'The hold that counts now, that of a person before that of a verification; null: it is not held',
});
