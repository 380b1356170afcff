import { z } from 'zod';
import {
  confirmSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
} from '../../../domain/identity/auth/second-factors.mutations.ts';
import { ANY_ROLE, defineRoute } from '../../http/define-route.ts';
import { NoContent } from '../../http/parameters.ts';

const ConfirmIn = z.strictObject({
  code: z
    .string()
    .trim()
    .regex(/^\d{6}$/, 'must be six digits'),
});

const Offered = z.object({
  secret: z.string().meta({ description: 'Base32, to type into an authenticator app' }),
  uri: z.string().meta({
    description: 'The secret as an otpauth URI, for a QR code',
    example: 'otpauth://totp/Quayside:a%40example.com?issuer=Quayside&secret=…',
  }),
});

const Confirmed = z.object({
  recoveryCodes: z.array(z.string()).meta({ description: 'Each replaces a code once; shown only in this reply' }),
});

export const totpRoutes = [
  defineRoute({
    operationId: 'createTotp',
    method: 'post',
    path: '/api/users/me/totp',
    group: 'Users',
    summary: 'Start setting up a second factor',
    description:
      'Returns a secret for an authenticator app (RFC 6238: six digits, 30 seconds, SHA-1). The second factor takes effect once it is confirmed with a code; until then each call returns a new secret. If one is already confirmed, the reply is 409.',
    roles: ANY_ROLE,
    projectScope: 'refused',
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
    summary: 'Confirm the second factor with a code',
    description:
      'From then on, signing in with a password requires a code. Returns recovery codes. The current session becomes `aal2`, and so do its access tokens from the next refresh on.',
    roles: ANY_ROLE,
    projectScope: 'refused',
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
    description: 'A confirmed second factor can only be removed in an `aal2` session; otherwise the reply is 403.',
    roles: ANY_ROLE,
    projectScope: 'refused',
    status: 204,
    response: NoContent,
    audit: 'user.second_factor_removed',
    handle: (_, { tx }) => tx(removeSecondFactor),
  }),
];
