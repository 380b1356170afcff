import { invalidField } from '../../kernel/shared/errors.ts';

/**
 * A My Domain of the platform: `acme.my`, with the kind of the org behind it where it is no production:
 * `acme--uat.sandbox.my`.
 */
const MY_DOMAIN =
  /^([a-z0-9-]+(?:\.(?:sandbox|scratch|develop|demo|patch|trailblaze|free|pc-rnd))?)\.my\.salesforce\.com$/;
const ON_PLATFORM = /(^|\.)(salesforce|force)\.com$/;

/**
 * Host names that the pages of an org need beside that of its front door, which leads on to them. Source: the platform's list of
 * My Domain host names; those that carry a package's or site's name are allowed as a family.
 */
export function hostsOfOrg(frontDoorHost: string): string[] {
  const [, org] = MY_DOMAIN.exec(frontDoorHost) ?? [];
  if (org === undefined)
    return ON_PLATFORM.test(frontDoorHost) ? [frontDoorHost, '*.salesforce.com', '*.force.com'] : [frontDoorHost];
  return [
    frontDoorHost,
    `${org}.lightning.force.com`,
    `${org}.my.salesforce-setup.com`,
    `${org}.my.site.com`,
    `${org}.my.salesforce-scrt.com`,
    `${org}.file.force.com`,
    `${org}.builder.salesforce-experience.com`,
    'static.lightning.force.com',
    '*.sfdcstatic.com',
    '*.vf.force.com',
    '*.documentforce.com',
  ];
}

/** A host name in lower case, of one label too; `*.` at the front of one with a dot for all below. No address, no port. */
export const HOST_NAME =
  /^((\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]|[a-z]([a-z0-9-]{0,61}[a-z0-9])?)$/;
/** How many host names an environment, or a request, may list. */
export const HOST_NAMES_MAX = 50;

/**
 * Throws `invalid_request` for hosts of a wish that the outbound policy is known to forbid: addresses and `localhost` that the
 * operator has not listed. Other names are judged when they are resolved.
 * @param at where they are in the request.
 */
export function assertPermittedHosts(
  hosts: readonly string[] | undefined,
  refusedHost: (host: string) => string | undefined,
  at: string,
): void {
  for (const [number, host] of (hosts ?? []).entries()) {
    const refused = refusedHost(host);
    if (refused !== undefined) throw invalidField(`${at}/${number}`, refused);
  }
}
