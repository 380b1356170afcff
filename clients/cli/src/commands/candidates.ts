import {
  abortReleaseCandidate,
  dataOf,
  holdReleaseCandidate,
  items,
  listReleaseCandidates,
  releaseHoldOfReleaseCandidate,
  saveReleaseCandidate,
  type ReleaseCandidate,
} from '@quayside/client';
import { commitOf, knownBranch } from '../built.ts';
import { type Context, dataOfLater } from '../context.ts';
import { usage } from '../exit.ts';
import { countOf, fileText, pairs, parseObject } from '../input.ts';
import { candidateOf } from '../names.ts';
import { fields, type Outcome, table } from '../output.ts';

/** A candidate for people. */
const shown = (candidate: ReleaseCandidate): string => {
  const { id, releaseName, domain, status, commitSha, branch, value, createdAt, supersededBy } = candidate;
  return fields({
    release: releaseName,
    domain,
    status,
    commitSha,
    branch,
    artifacts: value.artifacts,
    createdAt,
    supersededBy,
    id,
  });
};

export async function createCandidate(
  context: Context,
  releaseName: string,
  options: {
    domain: string;
    commit?: string;
    branch?: string;
    tag?: string;
    artifact: string[];
    definition?: string;
  },
): Promise<Outcome> {
  const commitSha = commitOf(context, options.commit);
  const branch = knownBranch(context, options.branch);
  const definition =
    options.definition === undefined ? {} : parseObject(fileText(options.definition), options.definition);
  const artifacts = { ...(definition.artifacts as object | undefined), ...pairs(options.artifact) };
  const body = {
    repositoryIdentifier: context.repository(),
    domain: options.domain,
    releaseName,
    commitSha,
    ...(branch !== undefined && { branch }),
    ...(options.tag !== undefined && { tag: options.tag }),
    value: { ...definition, ...(Object.keys(artifacts).length > 0 && { artifacts }) },
  };
  const data = await dataOf(saveReleaseCandidate({ client: context.client, body, headers: context.keyed(body) }));
  for (const { message } of data.warnings) context.say(`warning: ${message}`);
  return { data, text: shown(data) };
}

export async function listCandidates(
  context: Context,
  {
    domain,
    branch,
    status,
    all,
    limit,
  }: { domain?: string; branch?: string; status?: string; all?: boolean; limit: string },
): Promise<Outcome> {
  const most = countOf(limit, '--limit');
  const query = {
    repositoryIdentifier: context.repository(),
    ...(domain !== undefined && { domain }),
    ...(branch !== undefined && { branch }),
    ...(status !== undefined && { status }),
    ...(all && { includeFinalized: true }),
    limit: Math.min(most, 100),
  };
  const data: ReleaseCandidate[] = [];
  for await (const candidate of items(listReleaseCandidates, { client: context.client, query })) {
    data.push(candidate);
    if (data.length === most) break;
  }
  const rows = data.map(({ releaseName, domain: of, status: now, commitSha, createdAt }) => [
    releaseName,
    of,
    now,
    commitSha.slice(0, 10),
    createdAt,
  ]);
  return { data, text: table(rows) };
}

export async function showCandidate(
  context: Context,
  release: string,
  { domain }: { domain?: string },
): Promise<Outcome> {
  const data = await candidateOf(context, release, domain);
  return { data, text: shown(data) };
}

export async function abortCandidate(
  context: Context,
  release: string,
  { domain, reason }: { domain?: string; reason?: string },
): Promise<Outcome> {
  const { repositoryIdentifier, domain: of, releaseName } = await candidateOf(context, release, domain);
  const body = { repositoryIdentifier, domain: of, releaseName, ...(reason !== undefined && { reason }) };
  const data = await dataOf(abortReleaseCandidate({ client: context.client, body, headers: context.keyed(body) }));
  return { data, text: shown(data) };
}

const HOLDS = 'holds of candidates';

/** Holds a candidate. Done again it changes nothing, so that its key is of this start alone. */
export async function holdCandidate(
  context: Context,
  release: string,
  { domain, reason, until }: { domain?: string; reason: string; until?: string },
): Promise<Outcome> {
  const body = { reason, ...(until !== undefined && { until: timestamp(until) }) };
  const { id, releaseName } = await candidateOf(context, release, domain);
  const data = await dataOfLater(
    context,
    { method: 'post', path: '/api/release-candidates/{id}/hold', what: HOLDS },
    holdReleaseCandidate({ client: context.client, path: { id }, body }),
  );
  return { data, text: `${releaseName} is held: ${reason}` };
}

/** Lets a candidate go on; the key is as for `holdCandidate`. */
export async function releaseHold(
  context: Context,
  release: string,
  { domain }: { domain?: string },
): Promise<Outcome> {
  const { id, releaseName } = await candidateOf(context, release, domain);
  const data = await dataOfLater(
    context,
    { method: 'post', path: '/api/release-candidates/{id}/release-hold', what: HOLDS },
    releaseHoldOfReleaseCandidate({ client: context.client, path: { id } }),
  );
  return { data, text: `${releaseName} is no longer held` };
}

function timestamp(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw usage(`${text} is no time: give it as 2026-12-01T08:00:00Z`);
  return at.toISOString();
}
