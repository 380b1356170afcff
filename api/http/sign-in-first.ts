import type { Context } from 'koa';
import { isOwnPath } from '../../domain/identity/auth/own-path-rules.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';

/** A person opened a link: the browser shows the reply as a page. https://www.w3.org/TR/fetch-metadata/ */
const isNavigation = ({ method, get }: Pick<Context, 'method' | 'get'>): boolean =>
  method === 'GET' && get('sec-fetch-mode') === 'navigate' && get('sec-fetch-dest') === 'document';

/**
 * Leads a person who opened a link without a session to the sign-in page, which leads back; false for anybody else, who
 * gets the problem.
 */
export function leadsToSignIn(ctx: Context, error: unknown, basePath: string): boolean {
  if (!(error instanceof DomainError) || error.code !== 'unauthenticated') return false;
  const get = (name: string) => ctx.get(name);
  if (!isNavigation({ method: ctx.method, get }) || get('authorization') !== '' || !isOwnPath(ctx.url, basePath))
    return false;
  ctx.redirect(`${basePath}/api/auth/sign-in?${new URLSearchParams({ next: ctx.url })}`);
  return true;
}
