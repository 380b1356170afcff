import { isEffective } from '../../../../domain/delivery/deployments/deployed-rules.ts';
import type { DeploymentStatus } from '../../../../domain/delivery/release-candidates/finalization-rules.ts';
import { measure, windowsOf } from '../../../../domain/delivery/releases/measures/metrics-rules.ts';
import { directionOf, packageChanges } from '../../../../domain/delivery/releases/changelogs/package-change-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';
import type { TestApp } from '../../../support/app.ts';
import { withGitWorker } from '../../../support/git-worker.ts';
import { type ReleaseStage, releaseStage } from '../../../support/release-stage.ts';
import { randomNumbers } from '../../../support/repository.ts';

let app: TestApp;
withGitWorker(['git-v1', 'releases-v1'], (started) => {
  app = started;
});

const STEPS = 12;
const DAY_MS = 86_400_000;
const BEGIN = Date.parse('2026-02-01T00:00:00Z');
const PACKAGES = ['app', 'lib'];
const ENVIRONMENTS = ['uat', 'prod'];
const DOMAINS = ['core', 'ui'];
const STATUSES: DeploymentStatus[] = ['Success', 'Success', 'Success', 'Failed', 'Partial', 'Cancelled'];

interface Row {
  id: string;
  domain: string;
  releaseName: string;
  environment: string;
  status: DeploymentStatus;
  at: number;
  rolledBackAt: number | null;
  packages: Record<string, string>;
}

/** Versions with their commits; one without a commit has no changelog. */
type Versions = Map<string, string | undefined>;

const inOrder = (a: Row, b: Row) => a.at - b.at || (a.id < b.id ? -1 : 1);
const isInstalled = ({ status, rolledBackAt }: Row) => isEffective({ status, isRolledBack: rolledBackAt !== null });

/** What the rules give when all deployments are read, and commits come from git itself. */
function model(stage: ReleaseStage, rows: readonly Row[], versions: Versions) {
  const { remote } = stage;
  const dateOf = (sha: string) => Number(remote.git(['log', '-1', '--format=%ct', sha])) * 1_000;
  const metrics = ({
    domain,
    environment,
    from,
    to,
  }: {
    domain?: string;
    environment?: string;
    from: number;
    to: number;
  }) => {
    const places = Map.groupBy(
      rows
        .filter(
          (each) => (domain ?? each.domain) === each.domain && (environment ?? each.environment) === each.environment,
        )
        .toSorted(inOrder),
      (each) => `${each.domain} ${each.environment}`,
    );
    let missing = 0;
    const measures = [...places].flatMap(([place, own]) => {
      const arrived = new Set<string>();
      let running: Record<string, string> | undefined;
      const measured = own.flatMap((each) => {
        if (each.status === 'Cancelled') return [];
        const before = running;
        if (isInstalled(each)) running = { ...running, ...each.packages };
        if (each.at < from || each.at >= to) return [];
        const changes = isInstalled(each) && before ? packageChanges(before, each.packages) : [];
        const commits = changes.flatMap((change) => {
          if (directionOf(change) === 'downgrade') return [];
          const ends = [change.from, change.to].flatMap((version) =>
            version === null ? [] : versions.get(`${change.name} ${version}`),
          );
          if (ends.includes(undefined)) {
            missing++;
            return [];
          }
          return remote.log(change.from === null ? null : (ends[0] ?? ''), ends.at(-1) ?? '', [change.name]);
        });
        const fresh = [...new Set(commits)].filter((sha) => !arrived.has(sha));
        for (const sha of fresh) arrived.add(sha);
        const leadTimes = fresh.map((sha) => Math.max(0, each.at - dateOf(sha)));
        return [{ at: each.at, isSuccess: each.status === 'Success', rolledBackAt: each.rolledBackAt, leadTimes }];
      });
      const window = { from, to };
      return measured.length === 0 ? [] : [[place, measure(measured, [window, ...windowsOf(window, 'week')])] as const];
    });
    return { measures: Object.fromEntries(measures), missing };
  };

  const environmentsWith = (key: string) => {
    const naming = remote.lines(['log', '--format=%H', `--grep=${key}$`, 'main']);
    const changes = naming.flatMap((sha) =>
      PACKAGES.filter((name) => remote.git(['show', '--format=', '--name-only', sha, '--', name]) !== '').map(
        (name) => ({ name, sha }),
      ),
    );
    const holds = (name: string, version: string | undefined, sha: string) => {
      const end = versions.get(`${name} ${version}`);
      return end !== undefined && remote.log(null, end).includes(sha);
    };
    return Object.fromEntries(
      ENVIRONMENTS.map((environment) => {
        const installed = rows
          .filter((each) => each.environment === environment && isInstalled(each))
          .toSorted(inOrder);
        const now: Record<string, string> = Object.assign({}, ...installed.map(({ packages }) => packages));
        const arrivals = changes.map(({ name, sha }) =>
          installed.find(({ packages }) => holds(name, packages[name], sha)),
        );
        const came = arrivals.flatMap((row) => row ?? []).toSorted((a, b) => a.at - b.at);
        const last = came.length === changes.length ? came.at(-1) : undefined;
        return [
          environment,
          {
            present: changes.filter(({ name, sha }) => holds(name, now[name], sha)).length,
            firstArrivedAt: came[0] ? new Date(came[0].at).toISOString() : null,
            arrivedAt: last ? new Date(last.at).toISOString() : null,
            releaseName: last?.releaseName ?? null,
          },
        ];
      }),
    );
  };
  return { metrics, environmentsWith };
}

test.each([1, 2, 3])(
  'metrics and places of work items are those of all deployments, whatever changed since the last answer (%i)',
  async (seed) => {
    const random = randomNumbers(seed);
    const one = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const stage = await releaseStage(app);
    const { get, remote, project, query } = stage;
    const environments = await app.as(app.owner).get(200, `/api/environments?${query({})}`);
    const idOf = (name: string): string => environments.find((each: { name: string }) => each.name === name).id;
    const rows: Row[] = [];
    const versions: Versions = new Map();
    let made = 0;
    const cut = async () => {
      const name = one(PACKAGES);
      const version = `1.${++made}.0`;
      const domain = one(DOMAINS);
      await stage.cut(`r${made}`, { [name]: version }, { domain, message: `A change for SHOP-${1 + random(3)}` });
      versions.set(`${name} ${version}`, remote.git(['rev-parse', 'main']));
    };
    /** A candidate takes its version along to another commit. */
    const recut = async () => {
      const [name, version] = one([...versions.keys()]).split(' ');
      const sha = remote.git(['rev-parse', 'main']);
      const [candidate] = await app.sql(
        `update release_candidate set commit_sha = ? where project_id = ? and value -> 'artifacts' ->> ? = ? returning id`,
        [sha, project.id, name, version],
      );
      if (candidate) versions.set(`${name} ${version}`, sha);
    };
    const deploy = async () => {
      const known = [...versions.keys()].map((each) => each.split(' ') as [string, string]);
      const row: Row = {
        id: newId(),
        domain: one(DOMAINS),
        releaseName: `r${made}`,
        environment: one(ENVIRONMENTS),
        status: one(STATUSES),
        at: BEGIN + random(60 * 24) * 3_600_000 + rows.length,
        rolledBackAt: null,
        // Now and then a version of which nobody knows the commit.
        packages: Object.fromEntries([
          ...(random(8) === 0 ? [['lib', `0.${made}.0`] as const] : []),
          one(known),
          one(known),
        ]),
      };
      rows.push(row);
      await app.sql(
        `insert into release_deployment (id, tenant_id, project_id, environment_id, domain, release_name, status, deployed_at, dedupe_key, packages, installed, content_digest, reported_by, applied_at)
         values (?, ?, ?, ?, ?, ?, ?, to_timestamp(? / 1000.0), ?, '{}', ?::jsonb, 'unknown', '{}', now())`,
        [
          row.id,
          app.tenant.id,
          project.id,
          idOf(row.environment),
          row.domain,
          row.releaseName,
          row.status,
          row.at,
          row.id,
          JSON.stringify(row.status === 'Failed' || row.status === 'Cancelled' ? {} : row.packages),
        ],
      );
    };
    const rollBack = async () => {
      const row = one(rows);
      row.rolledBackAt = row.rolledBackAt === null && isInstalled(row) ? row.at + random(48) * 3_600_000 : null;
      await app.sql('update release_deployment set rolled_back_at = to_timestamp(? / 1000.0) where id = ?', [
        row.rolledBackAt,
        row.id,
      ]);
    };
    const remove = async () => {
      const [row] = rows.splice(random(rows.length), 1);
      await app.sql('delete from release_deployment where id = ?', [row?.id]);
    };
    /** A version whose commit nobody knew is tagged. */
    const learn = async () => {
      const first = rows
        .flatMap(({ packages }) => Object.entries(packages))
        .find(([name, version]) => !versions.has(`${name} ${version}`));
      if (!first) return;
      const [name, version] = first;
      const sha = one([...versions.values()]) ?? '';
      remote.git(['tag', `${name}_v${version}`, sha]);
      await project.fetch();
      versions.set(`${name} ${version}`, sha);
    };

    await cut();
    await cut();
    await deploy();
    for (let step = 0; step < STEPS; step++) {
      const act = one([deploy, deploy, deploy, deploy, cut, rollBack, rollBack, remove, learn, recut]);
      if (rows.length > 0 || act !== remove) await act();
      if (rows.length === 0) await deploy();
      const from = BEGIN + random(40) * DAY_MS;
      const to = from + (1 + random(30)) * DAY_MS;
      const domain = random(3) === 0 ? one(DOMAINS) : undefined;
      const environment = random(3) === 0 ? one(ENVIRONMENTS) : undefined;
      const answered = await get('/api/releases/metrics', {
        since: new Date(from).toISOString(),
        until: new Date(to).toISOString(),
        ...(domain !== undefined && { domain }),
        ...(environment !== undefined && { environmentName: environment }),
      });
      const { metrics, environmentsWith } = model(stage, rows, versions);
      const expected = metrics({
        from,
        to,
        ...(domain !== undefined && { domain }),
        ...(environment !== undefined && { environment }),
      });
      const measures = answered.domains.flatMap(
        (ofDomain: { domain: string; environments: { name: string; total: object; windows: object[] }[] }) =>
          ofDomain.environments.map(({ name, total, windows }) => [`${ofDomain.domain} ${name}`, [total, ...windows]]),
      );
      expect(Object.fromEntries(measures)).toMatchObject(expected.measures);
      expect(measures).toHaveLength(Object.keys(expected.measures).length);
      expect(answered.missingChangelogs).toBe(expected.missing);

      const key = `SHOP-${1 + random(3)}`;
      const item = await get(`/api/releases/work-items/${key}`);
      const places = environmentsWith(key);
      const found = item.domains.filter(
        ({ packages }: { packages: string[] }) =>
          packages.length === new Set(item.commits.flatMap((each: { packages: string[] }) => each.packages)).size,
      );
      for (const { environments: states } of found)
        expect(Object.fromEntries(states.map((each: { name: string }) => [each.name, each]))).toMatchObject(places);
    }
  },
);
