import { z } from 'zod';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../domain/passwords/password-rules.ts';

const Token = z.string().min(1).max(200);
/** Judged by the rules, which tell more than a schema. */
const ChosenPassword = z
  .string()
  .max(PASSWORD_MAX * 2)
  .meta({
    description: `${PASSWORD_MIN} to ${PASSWORD_MAX} characters, and not among the passwords that are tried first`,
  });

export const PasswordSetup = z.strictObject({ token: Token, newPassword: ChosenPassword });

export const LinkQuery = z.object({ token: Token });

export const PasswordForm = z.object({ token: Token, password: ChosenPassword });
