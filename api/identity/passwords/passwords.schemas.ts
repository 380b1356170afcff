import { z } from 'zod';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../../domain/identity/passwords/password-rules.ts';

/** In UTF-16 code units, of which a character takes up to two. */
const UNITS_MAX = PASSWORD_MAX * 2;

/** Checked by the password rules, whose messages say more than a schema's. */
const ChosenPassword = z
  .string()
  .max(UNITS_MAX)
  .meta({ description: `${PASSWORD_MIN} to ${PASSWORD_MAX} characters; common passwords are refused` });

export const PasswordChange = z.strictObject({
  currentPassword: z.string().min(1).max(UNITS_MAX),
  newPassword: ChosenPassword,
});

/** The token in the link of an invitation. */
const Token = z.string().min(1).max(200);

export const PasswordSetup = z.strictObject({ token: Token, newPassword: ChosenPassword });

export const LinkQuery = z.strictObject({ token: Token });

export const PasswordForm = z.object({ token: Token, password: ChosenPassword.optional() });
