import {
  compareSides as compare,
  dataOf,
  getReleaseNotes,
  getRunningReleases,
  listAttention,
  locateWorkItem,
} from '@quayside/client';
import { type Context, dataOfLater } from '../context.ts';
import { ambiguous, CommandError, missing, usage } from '../exit.ts';
import { candidateOf, environmentOf } from '../names.ts';
import { type Outcome, table } from '../output.ts';
import { startPayload } from './runs.ts';

export async function requestRelease(
  context: Context,
  releaseName: string,
  options: {
    domain: string;
    environment: string[];
    override?: string;
    failOutsideWindow?: boolean;
    wait?: boolean;
    dryRun?: boolean;
  },
): Promise<Outcome> {
  const payload = {
    id: 'request-release',
    repositoryIdentifier: context.repository(),
    domain: options.domain,
    releaseName,
    ...(options.environment.length > 0 && { environmentNames: options.environment }),
    ...(options.override !== undefined && { override: { reason: options.override } }),
    ...(options.failOutsideWindow && { failOutsideWindow: true }),
  };
  return startPayload(context, payload, options);
}

/** What runs in each environment; with a work item, where its changes are. */
export async function whereIs(context: Context, workItem: string | undefined): Promise<Outcome> {
  const repositoryIdentifier = context.repository();
  const { client } = context;
  if (workItem !== undefined) {
    const data = await dataOf(locateWorkItem({ client, path: { key: workItem }, query: { repositoryIdentifier } }));
    const rows = data.domains.flatMap(({ domain, environments }) =>
      environments.map(({ name, presence, present, total, releaseName, arrivedAt }) => [
        name,
        domain,
        presence === 'some' ? `${present} of ${total}` : presence,
        releaseName,
        arrivedAt,
      ]),
    );
    return { data, text: table(rows) };
  }
  const data = await dataOfLater(
    context,
    { method: 'get', path: '/api/releases/where', what: 'what runs where' },
    getRunningReleases({ client, query: { repositoryIdentifier } }),
  );
  const rows = data.map(({ environment, domain, releaseName, since, by }) => [
    environment,
    domain,
    releaseName,
    since,
    by,
  ]);
  return { data, text: table(rows) };
}

export async function releaseNotes(
  context: Context,
  release: string,
  { format, domain, environment }: { format: string; domain?: string; environment?: string },
): Promise<Outcome> {
  if (format !== 'md' && format !== 'json') throw usage('--format takes md or json');
  // As text, too, which the document's first media type does not say.
  const data: unknown = await dataOf(
    getReleaseNotes({
      client: context.client,
      path: { name: release },
      query: {
        repositoryIdentifier: context.repository(),
        format: context.isJson ? 'json' : format,
        ...(domain !== undefined && { domain }),
        ...(environment !== undefined && { environmentName: environment }),
      },
    }),
  );
  return { data, text: typeof data === 'string' ? data.trimEnd() : JSON.stringify(data) };
}

/** An environment or a release, as the service takes sides: `environment:<id>`, `candidate:<id>`. */
async function sideOf(context: Context, text: string, domain: string | undefined): Promise<string> {
  const [, kind, named = text] = /^(environment|candidate):(.+)$/.exec(text) ?? [];
  const environment = kind === 'candidate' ? undefined : await found(environmentOf(context, named));
  const candidate = kind === 'environment' ? undefined : await found(candidateOf(context, named, domain));
  if (environment !== undefined && candidate !== undefined)
    throw ambiguous(`${text} is an environment and a release; write environment:${text} or candidate:${text}`, [
      environment.id,
      candidate.id,
    ]);
  if (environment !== undefined) return `environment:${environment.id}`;
  if (candidate !== undefined) return `candidate:${candidate.id}`;
  throw missing(`${context.repository()} has no environment and no release ${text}`);
}

async function found<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CommandError && error.code === 'not_found') return undefined;
    throw error;
  }
}

export async function compareSides(
  context: Context,
  left: string,
  right: string,
  { domain, changelog }: { domain?: string; changelog?: boolean },
): Promise<Outcome> {
  const query = {
    repositoryIdentifier: context.repository(),
    left: await sideOf(context, left, domain),
    right: await sideOf(context, right, domain),
    ...(changelog && { includeChangelog: true }),
  };
  const data = await dataOfLater(
    context,
    { method: 'get', path: '/api/releases/compare', what: 'comparisons of any two sides' },
    compare({ client: context.client, query }),
  );
  const { packagesToInstall, packagesToUpdate } = data.comparison;
  const rows = [
    ...packagesToInstall.map((each) => ['install', each] as const),
    ...packagesToUpdate.map((each) => ['update', each] as const),
    ...data.onlyRight.map(
      ({ name, version }) => ['only right', { name, versions: { from: null, to: version } }] as const,
    ),
  ].map(
    ([
      what,
      {
        name,
        versions: { from, to },
      },
    ]) => [what, name, from === null ? to : `${from} -> ${to}`],
  );
  return { data, text: rows.length === 0 ? 'the same' : table(rows) };
}

/** What a person should look at. */
export async function attention(context: Context): Promise<Outcome> {
  const data = await dataOfLater(
    context,
    { method: 'get', path: '/api/attention', what: 'what needs attention' },
    listAttention({ client: context.client, query: { limit: 100 } }),
  );
  const rows = data.items.map(({ since, kind, title, reason }) => [since, kind, title, reason]);
  return { data, text: rows.length === 0 ? 'nothing needs attention' : table(rows) };
}
