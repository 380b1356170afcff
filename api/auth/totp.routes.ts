import { z } from 'zod';
import {
  confirmSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
} from '../../domain/auth/second-factors.mutations.ts';
import { ROLES } from '../../domain/shared/actor.ts';
import { defineRoute } from '../http/define-route.ts';
import { NoContent } from '../http/parameters.ts';

const ConfirmIn = z.strictObject({
  code: z
    .string()
    .trim()
    .regex(/^\d{6}$/, 'must be six digits'),
});

const Offered = z.object({
  secret: z.string().meta({ description: 'Base32, to type into an authenticator app' }),
  uri: z.string().meta({
    description: 'The same as an otpauth URI, for a QR code',
    example: 'otpauth://totp/Quayside:a%40example.com?issuer=Quayside&secret=…',
  }),
});

const Confirmed = z.object({
  recoveryCodes: z.array(z.string()).meta({ description: 'Each can be used once instead of a code; shown only now' }),
});

export const totpRoutes = [
  defineRoute({
    operationId: 'createTotp',
    method: 'post',
    path: '/api/users/me/totp',
    group: 'Users',
    summary: 'Begin to set up a second factor: a secret for an authenticator app',
    description:
      'Six digits, 30 seconds, SHA-1 (RFC 6238). It counts once it is confirmed by a code; asking again before that gives a new secret. With one confirmed: 409.',
    roles: ROLES,
    status: 201,
    response: Offered,
    errors: ['already_exists'],
    audit: 'user.second_factor_offered',
    handle: (_, { tx, adapters }) => tx((work) => offerSecondFactor(work, adapters.encryption)),
  }),
  defineRoute({
    operationId: 'confirmTotp',
    method: 'post',
    path: '/api/users/me/totp/confirm',
    group: 'Users',
    summary: 'Confirm the second factor by a code; from then on, sign-ins by password need one',
    description:
      'Answers recovery codes. The current session has `aal2` afterwards; its tokens, from the next refresh on.',
    roles: ROLES,
    body: ConfirmIn,
    status: 200,
    response: Confirmed,
    audit: 'user.second_factor_added',
    handle: ({ body: { code } }, { tx, adapters }) =>
      tx(async (work) => ({ recoveryCodes: await confirmSecondFactor(work, adapters.encryption, code) })),
  }),
  defineRoute({
    operationId: 'deleteTotp',
    method: 'delete',
    path: '/api/users/me/totp',
    group: 'Users',
    summary: 'Remove the second factor',
    description: 'A confirmed one is removed only in a session that was begun with it (`aal2`); otherwise 403.',
    roles: ROLES,
    status: 204,
    response: NoContent,
    audit: 'user.second_factor_removed',
    handle: (_, { tx }) => tx(removeSecondFactor),
  }),
];
