import {
  abortReleaseCandidate,
  dataOf,
  items,
  listReleaseCandidates,
  saveReleaseCandidate,
  type ReleaseCandidate,
} from '@quayside/client';
import { type Context, dataOfLater } from '../context.ts';
import { usage } from '../exit.ts';
import { fileText, pairs, parseObject } from '../input.ts';
import { candidateOf } from '../names.ts';
import { fields, type Outcome, table } from '../output.ts';
import { builtBranch, builtCommit } from '../pipeline.ts';
import { SECURITY } from '../security.ts';

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
  const commitSha = options.commit ?? builtCommit(context.env, process.cwd());
  if (commitSha === undefined) throw usage('Which commit? Give --commit');
  const branch = options.branch ?? builtBranch(context.env, process.cwd());
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
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1) throw usage('--limit takes a number');
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

/** Holds a candidate, or lets it go on. Done again it changes nothing, so that its key is of this start alone. */
export async function holdCandidate(
  context: Context,
  release: string,
  action: 'hold' | 'release-hold',
  { domain, reason, until }: { domain?: string; reason?: string; until?: string },
): Promise<Outcome> {
  const { id, releaseName } = await candidateOf(context, release, domain);
  const held = { reason, ...(until !== undefined && { until: timestamp(until) }) };
  const path = `/api/release-candidates/{id}/${action}` as const;
  const call = context.client.post<{ 200: unknown }>({
    url: path,
    path: { id },
    ...(action === 'hold' && { body: held }),
    security: SECURITY,
  });
  const data = await dataOfLater(context, { method: 'post', path, what: 'holds of candidates' }, call);
  return { data, text: `${releaseName} is ${action === 'hold' ? `held: ${reason}` : 'no longer held'}` };
}

function timestamp(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw usage(`${text} is no time: give it as 2026-12-01T08:00:00Z`);
  return at.toISOString();
}
