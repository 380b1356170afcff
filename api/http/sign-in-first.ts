import type { Context } from 'koa';
import { isOwnPath } from '../../domain/identity/auth/own-path-rules.ts';
import { DomainError } from '../../domain/kernel/shared/errors.ts';

/** A person opened a link: the browser shows the reply as a page. https://www.w3.org/TR/fetch-metadata/ */
const isNavigation = (ctx: Context): boolean =>
  ctx.method === 'GET' && ctx.get('sec-fetch-mode') === 'navigate' && ctx.get('sec-fetch-dest') === 'document';

/**
 * Leads a person who opened a link without a session to the sign-in page, which leads back; false for anybody else, who
 * gets the problem.
 */
export function leadsToSignIn(ctx: Context, error: unknown, basePath: string): boolean {
  if (!(error instanceof DomainError) || error.code !== 'unauthenticated') return false;
  if (!isNavigation(ctx) || ctx.get('authorization') !== '' || !isOwnPath(ctx.url, basePath)) return false;
  ctx.redirect(`${basePath}/api/auth/sign-in?${new URLSearchParams({ next: ctx.url })}`);
  return true;
}
