import type { WorkItemPlaces } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

type Domain = WorkItemPlaces['domains'][number];
type Environment = Domain['environments'][number];
export type Presence = Environment['presence'];

const TONES: Record<Presence, Tone> = { all: 'good', some: 'wait', none: 'idle', unknown: 'wait' };

export const toneOfPresence = (presence: Presence): Tone => TONES[presence];

/** Where a work item is, in what one sentence says. */
export interface WhereItIs {
  kind: 'unknown' | 'noDomain' | 'nowhere' | 'partly' | 'complete';
  /** The furthest environment that has it, of all its domains or in part. */
  environment?: { name: string; since: string | null };
  /** The newest candidate that has all of it, where no environment has any. */
  releaseName?: string;
  /** Environments that still lack it; without domains: all of it. */
  lacks: { environment: string; domains: string[] }[];
  /** Environments of which nobody can tell. */
  unknownIn: string[];
}

type Given = Pick<WorkItemPlaces, 'totalCommits'> & {
  domains: readonly (Pick<Domain, 'domain' | 'missingFromEnvironments'> & {
    environments: readonly Pick<Environment, 'name' | 'presence' | 'arrivedAt'>[];
    candidates: readonly Pick<Domain['candidates'][number], 'releaseName' | 'presence' | 'createdAt'>[];
  })[];
};

/**
 * Where a work item is: in the last environment, by the order of the project, that has it of every domain that it changes, else
 * in the last one that has some of it; what lacks it are release environments behind no other measure than the service's.
 */
export function whereItIs({ totalCommits, domains }: Given): WhereItIs {
  const nothing = { lacks: [], unknownIn: [] };
  if (totalCommits === 0) return { kind: 'unknown', ...nothing };
  if (domains.length === 0) return { kind: 'noDomain', ...nothing };
  const names = [...new Set(domains.flatMap(({ environments }) => environments.map(({ name }) => name)))];
  const placed = names.map((name) => ({ name, ...joined(name, domains) }));
  const rest = { lacks: lacksOf(names, domains), unknownIn: namesOf(placed, 'unknown') };
  const complete = placed.findLast(({ presence }) => presence === 'all');
  if (complete) return { kind: 'complete', environment: complete, ...rest };
  const partly = placed.findLast(({ presence }) => presence === 'some');
  if (partly) return { kind: 'partly', environment: { name: partly.name, since: null }, ...rest };
  const releaseName = newestCandidate(domains);
  return { kind: 'nowhere', ...(releaseName !== undefined && { releaseName }), ...rest };
}

const namesOf = (placed: readonly { name: string; presence: Presence }[], wanted: Presence): string[] =>
  placed.filter(({ presence }) => presence === wanted).map(({ name }) => name);

/** An environment over all domains: complete since the last part arrived. */
function joined(name: string, domains: Given['domains']): { presence: Presence; since: string | null } {
  const found = domains.flatMap(({ environments }) => environments.filter((each) => each.name === name));
  const presences = new Set(found.map(({ presence }) => presence));
  const arrivals = found.map(({ arrivedAt }) => arrivedAt).filter((at) => at !== null);
  if (presences.has('unknown')) return { presence: 'unknown', since: null };
  const isComplete = presences.size === 1 && presences.has('all');
  if (isComplete && found.length === domains.length)
    return { presence: 'all', since: arrivals.toSorted().at(-1) ?? null };
  return { presence: presences.has('all') || presences.has('some') ? 'some' : 'none', since: null };
}

function lacksOf(names: readonly string[], domains: Given['domains']): WhereItIs['lacks'] {
  return names.flatMap((environment) => {
    const lacking = domains.filter(({ missingFromEnvironments }) => missingFromEnvironments.includes(environment));
    if (lacking.length === 0) return [];
    const isWhole =
      lacking.length === domains.length &&
      lacking.every(({ environments }) => environments.find(({ name }) => name === environment)?.presence === 'none');
    return [{ environment, domains: isWhole ? [] : lacking.map(({ domain }) => domain) }];
  });
}

const newestCandidate = (domains: Given['domains']): string | undefined =>
  domains
    .flatMap(({ candidates }) => candidates.filter(({ presence }) => presence === 'all'))
    .toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    .at(-1)?.releaseName;
