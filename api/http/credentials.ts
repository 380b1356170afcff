import { type Authenticator, TENANT_HEADER } from '../../domain/identity/auth/authenticator.ts';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';
import { type Cookies, isFromOwnPage } from './cookies.ts';
import type { PublicScope } from './scope.ts';

export interface CredentialDeps {
  authenticator: Authenticator;
  cookies: Cookies;
  publicUrl: string;
}

/** What of a request is looked at: a header that is absent is empty. */
export interface Asked {
  method: string;
  get(header: string): string;
}

interface Credential {
  kind: 'bearer' | 'cookie';
  secret: string;
}

/** From the header, which pages of other sites cannot set, otherwise from the cookie; never from the query. */
function credentialOf({ cookies }: CredentialDeps, ctx: Asked): Credential | undefined {
  const header = ctx.get('authorization');
  if (header === '') {
    const secret = cookies.read(ctx.get('cookie'), 'qs_session');
    return secret === undefined ? undefined : { kind: 'cookie', secret };
  }
  const [scheme = '', secret = ''] = header.split(' ');
  return secret === '' || scheme.toLowerCase() !== 'bearer' ? undefined : { kind: 'bearer', secret };
}

const isOwnPage = ({ publicUrl }: CredentialDeps, ctx: Asked): boolean =>
  isFromOwnPage(ctx.get('sec-fetch-site'), ctx.get('origin'), publicUrl);

/** Browsers attach the cookie to requests of any page, so writes with it must come from a page of this service. */
function actorOf(deps: CredentialDeps, ctx: Asked, { kind, secret }: Credential): Promise<Actor | undefined> {
  if (kind === 'bearer') return deps.authenticator.byBearer(secret, ctx.get(TENANT_HEADER) || undefined);
  if (!/^(GET|HEAD)$/.test(ctx.method) && !isOwnPage(deps, ctx)) {
    throw new DomainError('forbidden', 'A write with the session cookie must come from a page of this service');
  }
  return deps.authenticator.byCookie(secret);
}

/** A credential acts in one tenant: a request that names another is not meant for it. Throws `forbidden`. */
function assertTenant({ tenantSlug }: Actor, ctx: Asked): void {
  const named = ctx.get(TENANT_HEADER);
  if (named !== '' && named !== tenantSlug)
    throw new DomainError('forbidden', `The credential does not act in the tenant that ${TENANT_HEADER} names`);
}

/** The sender of a request. Throws `unauthenticated`, or `forbidden` for a cross-site write with the cookie. */
export async function identify(deps: CredentialDeps, ctx: Asked): Promise<{ actor: Actor; secret: string }> {
  const credential = credentialOf(deps, ctx);
  if (!credential) {
    throw new DomainError('unauthenticated', 'A bearer credential is required: Authorization: Bearer <token>');
  }
  const actor = await actorOf(deps, ctx, credential);
  if (!actor) throw new DomainError('unauthenticated', 'The credential is malformed, expired or revoked');
  assertTenant(actor, ctx);
  return { actor, secret: credential.secret };
}

/** What a public route can find out about its caller. */
export function visitorOf(deps: CredentialDeps, ctx: Asked): Pick<PublicScope, 'caller' | 'cookies' | 'isFromOwnPage'> {
  const { read, write, clear } = deps.cookies;
  return {
    async caller() {
      const credential = credentialOf(deps, ctx);
      const actor = credential && (await actorOf(deps, ctx, credential));
      return actor?.run ? undefined : actor;
    },
    cookies: { get: (name) => read(ctx.get('cookie'), name), write, clear },
    isFromOwnPage: isOwnPage(deps, ctx),
  };
}
