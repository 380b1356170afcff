import type { Actor } from '../../kernel/shared/actor.ts';

/** The parameters of a front-door link: `targetOrg:name,repository:owner/repo,prodOrg:name`; unknown names are ignored. */
export interface FrontDoorLink {
  targetOrg: string;
  repository?: string;
  prodOrg?: string;
}

/** User names of orgs look like e-mail addresses, their aliases like words. */
const ORG = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,254}$/;
const REPOSITORY = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._ -]+){1,2}$/;

/** Undefined for a link that names no org, repeats a parameter, or has a malformed one. */
export function parseFrontDoorLink(params: string): FrontDoorLink | undefined {
  const found = new Map<string, string>();
  for (const pair of params.split(',')) {
    const at = pair.indexOf(':');
    const name = pair.slice(0, at).trim();
    if (at < 1 || found.has(name)) return undefined;
    found.set(name, pair.slice(at + 1).trim());
  }
  const [targetOrg, repository, prodOrg] = ['targetOrg', 'repository', 'prodOrg'].map((name) => found.get(name));
  if (targetOrg === undefined || !ORG.test(targetOrg)) return undefined;
  if (repository !== undefined && !REPOSITORY.test(repository)) return undefined;
  if (prodOrg !== undefined && !ORG.test(prodOrg)) return undefined;
  return { targetOrg, ...(repository !== undefined && { repository }), ...(prodOrg !== undefined && { prodOrg }) };
}

/** Finds the active assignment of a review environment to the work on a repository; answers its id. */
export type FindReviewAssignment = (
  actor: Actor,
  target: { targetOrg: string; repository: string },
) => Promise<string | undefined>;
