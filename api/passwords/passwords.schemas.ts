import { z } from 'zod';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../domain/passwords/password-rules.ts';

/** UTF-16 units of the longest password, when each of its characters takes two. */
const UNITS_MAX = PASSWORD_MAX * 2;

/** Checked by the rules, whose messages say more than a schema's. */
const ChosenPassword = z
  .string()
  .max(UNITS_MAX)
  .meta({ description: `${PASSWORD_MIN} to ${PASSWORD_MAX} characters, and not one of the common passwords` });

export const PasswordChange = z.strictObject({
  currentPassword: z.string().min(1).max(UNITS_MAX),
  newPassword: ChosenPassword,
});

/** Of the link of an invitation. */
const Token = z.string().min(1).max(200);

export const PasswordSetup = z.strictObject({ token: Token, newPassword: ChosenPassword });

export const LinkQuery = z.object({ token: Token });

export const PasswordForm = z.object({ token: Token, password: ChosenPassword });
