import { LRUCache } from 'lru-cache';
import type { Reads } from '../../kernel/data/fenced-reads.ts';
import {
  deploymentsOf,
  type InstalledSeries,
  installedSeries,
  runningNow,
  type SeriesDeployment,
} from './installed-series-rules.ts';
import type { Packages } from './report-rules.ts';
import {
  type LoggedRow,
  installedByDeployments,
  placeDigests,
  type PlaceKey,
  placeRows,
} from './deployment-log.queries.ts';

export interface LoggedDeployment extends SeriesDeployment {
  id: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
}

/** The deployments of one domain to one environment, in order. */
export interface DeploymentPlace extends PlaceKey {
  deployments: readonly LoggedDeployment[];
  /** The deployments that make up what runs now. */
  installed: readonly LoggedDeployment[];
  /** What ran from when to when. */
  series: InstalledSeries<LoggedDeployment>;
}

/** The deployments of a project as they are known now. What changes is another object; what does not is the same. */
export interface DeploymentLog {
  places: readonly DeploymentPlace[];
  /** One object for all logs of the project that a process answers: what is derived from deployments is kept by it. */
  owner: object;
}

/**
 * The deployments of a project. They are cached in memory: a request reads a digest of each environment's, and only what
 * is new or has changed beyond that.
 */
export type DeploymentLogCache = (reads: Reads, projectId: string) => Promise<DeploymentLog>;

/** How many deployments a process keeps: of the projects used most recently. */
const DEPLOYMENTS_MAX = 200_000;
const PROJECTS_MAX = 64;
/** How many deployments one statement reads the packages of; those that installed the same packages share them. */
const READ_MAX = 5_000;

interface CachedPlace {
  digest: string;
  place: DeploymentPlace;
}

interface CachedLog {
  places: ReadonlyMap<string, CachedPlace>;
  log: DeploymentLog;
  deployments: number;
  /** Settled when nothing is being read, so that one caller reads at a time. */
  reading: Promise<void>;
}

const keyOf = ({ environmentId, domain }: PlaceKey): string => `${environmentId}\n${domain}`;

/** An empty cache. */
export function createDeploymentLogCache(): DeploymentLogCache {
  const cache = new LRUCache<string, CachedLog>({ max: PROJECTS_MAX, maxSize: DEPLOYMENTS_MAX });

  const keep = (projectId: string, entry: CachedLog) =>
    cache.set(projectId, entry, { size: Math.min(Math.max(1, entry.deployments), DEPLOYMENTS_MAX) });

  const entryOf = (projectId: string): CachedLog => {
    const known = cache.get(projectId);
    if (known) return known;
    const entry = { places: new Map(), log: { places: [], owner: {} }, deployments: 0, reading: Promise.resolve() };
    keep(projectId, entry);
    return entry;
  };

  return async (reads, projectId) => {
    const entry = entryOf(projectId);
    const digests = await placeDigests(reads, projectId);
    if (!isCurrent(entry, digests)) {
      entry.reading = readAfter(entry.reading, reads, projectId, entry, digests);
      await entry.reading;
      keep(projectId, entry);
    }
    return entry.log;
  };
}

type Digests = Awaited<ReturnType<typeof placeDigests>>;

const isCurrent = ({ places }: CachedLog, digests: Digests): boolean =>
  places.size === digests.length && digests.every((each) => places.get(keyOf(each))?.digest === each.digest);

async function readAfter(
  others: Promise<void>,
  reads: Reads,
  projectId: string,
  entry: CachedLog,
  digests: Digests,
): Promise<void> {
  await others.catch(() => undefined);
  if (isCurrent(entry, digests)) return;
  const changed = digests.filter((each) => entry.places.get(keyOf(each))?.digest !== each.digest);
  const read = changed.length === 0 ? [] : await placeRows(reads, projectId, changed);
  const known = new Map(
    changed.flatMap((each) =>
      (entry.places.get(keyOf(each))?.place.deployments ?? []).map((one) => [one.id, one] as const),
    ),
  );
  const packages = await readPackages(
    reads,
    read.flatMap(({ rows }) => rows.filter(([id]) => !known.has(id))),
  );
  const places = new Map(
    digests.flatMap((each) => {
      const kept = entry.places.get(keyOf(each));
      return kept?.digest === each.digest ? [[keyOf(each), kept] as const] : [];
    }),
  );
  for (const { environmentId, domain, digest, rows } of read) {
    const deployments = rows.map((row) => logged(row, known, packages));
    const series = installedSeries(deployments);
    const installed = deploymentsOf(runningNow(series));
    const place = { environmentId, domain, deployments, installed, series };
    places.set(keyOf(place), { digest, place });
  }
  const all = [...places.values()].map(({ place }) => place);
  entry.places = places;
  entry.deployments = all.reduce((sum, { deployments }) => sum + deployments.length, 0);
  entry.log = { places: all, owner: entry.log.owner };
}

async function readPackages(reads: Reads, rows: readonly LoggedRow[]): Promise<Map<string, Packages>> {
  // Deployments of the same content, which mostly installed the same, are read by one statement.
  const contents = Map.groupBy(rows, ([, , , , , , , contentDigest]) => contentDigest);
  const ids = [...contents.values()].flatMap((own) => own.map(([id]) => id));
  const byId = new Map<string, Packages>();
  // What is the same is one object: it takes less memory, and what compares packages sees it at once.
  const byText = new Map<string, Packages>();
  for (let at = 0; at < ids.length; at += READ_MAX) {
    for (const { installed: text, ids: own } of await installedByDeployments(reads, ids.slice(at, at + READ_MAX))) {
      const installed = byText.get(text) ?? (JSON.parse(text) as Packages);
      byText.set(text, installed);
      for (const id of own) byId.set(id, installed);
    }
  }
  return byId;
}

function logged(
  [id, at, receivedAt, status, rolledBackAt, releaseName, installsAll, contentDigest, commitSha]: LoggedRow,
  known: ReadonlyMap<string, LoggedDeployment>,
  packages: ReadonlyMap<string, Packages>,
): LoggedDeployment {
  const before = known.get(id);
  if (
    before?.at === at &&
    before.status === status &&
    before.rolledBackAt === rolledBackAt &&
    before.contentDigest === contentDigest
  )
    return before;
  return {
    id,
    releaseName,
    at,
    receivedAt,
    status,
    rolledBackAt,
    contentDigest,
    commitSha,
    packages: before?.packages ?? packages.get(id) ?? {},
    installsAll,
  };
}
