import {
  dataOf,
  type Environment,
  findReleaseCandidate,
  getEnvironment,
  getReleaseCandidate,
  listEnvironments,
  listReleaseCandidateDomains,
  type ReleaseCandidateWithWarnings,
} from '@quayside/client';
import { type Context, ifFound } from './context.ts';
import { ambiguous, missing } from './exit.ts';

export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** The environment of that name, or id, in the repository. */
export async function environmentOf(context: Context, name: string): Promise<Environment> {
  const { client } = context;
  if (isId(name)) return dataOf(getEnvironment({ client, path: { id: name } }));
  const repositoryIdentifier = context.repository();
  const all = await dataOf(listEnvironments({ client, query: { repositoryIdentifier } }));
  const exact = all.filter((each) => each.name === name);
  const found = exact.length > 0 ? exact : all.filter((each) => each.name.toLowerCase() === name.toLowerCase());
  const [only] = found;
  if (only === undefined)
    throw missing(
      `${repositoryIdentifier} has no environment ${name}; it has ${all.map((each) => each.name).join(', ') || 'none'}`,
    );
  if (found.length > 1)
    throw ambiguous(
      `${name} names several environments`,
      found.map(({ id }) => id),
    );
  return only;
}

/** The candidate of that release, or id: in the domain, or in the only one that has it. */
export async function candidateOf(
  context: Context,
  release: string,
  domain?: string,
): Promise<ReleaseCandidateWithWarnings> {
  const { client } = context;
  if (isId(release)) return dataOf(getReleaseCandidate({ client, path: { id: release } }));
  const repositoryIdentifier = context.repository();
  const domains =
    domain === undefined
      ? await dataOf(listReleaseCandidateDomains({ client, query: { repositoryIdentifier } }))
      : [domain];
  const found: ReleaseCandidateWithWarnings[] = [];
  for (const each of domains) {
    const body = { repositoryIdentifier, domain: each, releaseName: release };
    const candidate = await ifFound(findReleaseCandidate({ client, body }));
    if (candidate !== undefined) found.push(candidate);
  }
  const [only] = found;
  if (only === undefined)
    throw missing(`${repositoryIdentifier} has no release ${release}${domain === undefined ? '' : ` in ${domain}`}`);
  if (found.length > 1)
    throw ambiguous(
      `${release} is a release of several domains (${found.map((each) => each.domain).join(', ')}); name one by --domain`,
      found.map(({ id }) => id),
    );
  return only;
}
