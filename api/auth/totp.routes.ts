import { z } from 'zod';
import { type Actor, ROLES } from '../../domain/shared/actor.ts';
import { DomainError } from '../../domain/shared/errors.ts';
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
  recoveryCodes: z.array(z.string()).meta({ description: 'Each is good once in place of a code; shown only now' }),
});

/** A second factor is a person's; an application token has none. */
function requirePerson({ type }: Actor): void {
  if (type !== 'user') throw new DomainError('forbidden', 'Forbidden - Only people have a second factor');
}

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
    async handle(_, { actor, tx, adapters }) {
      requirePerson(actor);
      return tx((work) => adapters.auth.secondFactors.offer(work));
    },
  }),
  defineRoute({
    operationId: 'confirmTotp',
    method: 'post',
    path: '/api/users/me/totp/confirm',
    group: 'Users',
    summary: 'Confirm the second factor by a code; sign-ins by password need one from now on',
    description:
      'Answers recovery codes. The present session has `aal2` afterwards, from its next refresh on in its tokens, too.',
    roles: ROLES,
    body: ConfirmIn,
    status: 200,
    response: Confirmed,
    audit: 'user.second_factor_added',
    async handle({ body }, { actor, tx, adapters }) {
      requirePerson(actor);
      return { recoveryCodes: await tx((work) => adapters.auth.secondFactors.confirm(work, body.code)) };
    },
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
    async handle(_, { actor, tx, adapters }) {
      requirePerson(actor);
      await tx((work) => adapters.auth.secondFactors.remove(work));
    },
  }),
];
