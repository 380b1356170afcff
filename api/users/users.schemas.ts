import { z } from 'zod';
import { ROLES } from '../../domain/shared/actor.ts';
import { JsonObject } from '../http/parameters.ts';

export const User = z
  .object({
    id: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    email: z.string(),
    role: z.enum(ROLES),
    teams: z.array(z.string()).meta({ description: 'Slugs of the teams' }),
    authData: JsonObject.optional().meta({ description: 'Authentication metadata; left out where the reader may not see it' }),
  })
  .meta({ id: 'User' });
