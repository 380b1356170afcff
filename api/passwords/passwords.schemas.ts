import { z } from 'zod';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../domain/passwords/password-rules.ts';

/** No password has more units of text: the longest, in characters of two units each. */
const UNITS_MAX = PASSWORD_MAX * 2;

export const PasswordChange = z.strictObject({
  currentPassword: z.string().min(1).max(UNITS_MAX),
  newPassword: z
    .string()
    .max(UNITS_MAX)
    .meta({
      description: `${PASSWORD_MIN} to ${PASSWORD_MAX} characters, and not among the passwords that are tried first`,
    }),
});
