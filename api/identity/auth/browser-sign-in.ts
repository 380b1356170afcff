import { isOwnPath } from '../../../domain/identity/auth/own-path-rules.ts';
import { COOKIE_SECONDS, type Proof } from '../../../domain/identity/auth/sessions.mutations.ts';
import { invalidField } from '../../../domain/kernel/shared/errors.ts';
import { basePathOf } from '../../http/server/html-page.ts';
import { reply, type Reply } from '../../http/replies.ts';
import type { PublicScope } from '../../http/scope.ts';

/** Where a sign-in without `next` leads to. */
const DEFAULT_NEXT = '/docs';

/** The target of a redirect after sign-in. Throws `invalid_request` for one that is not a path of the service. */
export function ownPath(next: string | undefined, publicUrl: string): string {
  const basePath = basePathOf(publicUrl);
  const target = next ?? basePath + DEFAULT_NEXT;
  if (!isOwnPath(target, basePath)) throw invalidField('next', 'must be a path of this service');
  return target;
}

export const redirect = (location: string, cookies: readonly string[] = []): Reply<undefined> =>
  reply(undefined, { status: 302, headers: { Location: location }, cookies });

/** Starts a browser session and returns its cookie. */
export const sessionCookie = async (proof: Proof, { adapters, cookies, requestId }: PublicScope): Promise<string> =>
  cookies.write('qs_session', await adapters.auth.sessions.beginWithCookie(proof, requestId), COOKIE_SECONDS);
