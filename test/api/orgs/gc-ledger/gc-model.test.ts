import fc from 'fast-check';
import type { Json } from '../../../support/client.ts';
import { type TestApp, testApp } from '../../../support/app.ts';
import { dropped, type Ledger, ledgerOf } from '../../../support/gc-ledger.ts';
import { idleEngine } from '../../../support/launch.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp({ launch: idleEngine });
});
afterAll(() => app.close());

const PACKAGES = ['core', 'web'] as const;
const NAMES = ['A', 'B', 'C'];
const ENVIRONMENTS = ['uat', 'production'] as const;

type Package = (typeof PACKAGES)[number];
type Manifest = { has: string[]; destroys: string[] } | undefined;
type Presence = 'present' | 'absent' | 'unknown';
interface Entry {
  status: string;
  movedTo: string | null;
  /** Its changes of status, each with what made it. */
  log: { from: string | undefined; to: string; by: 'events' | 'check' | 'person' }[];
  /** What orgs said, after how many changes. */
  said: { environment: (typeof ENVIRONMENTS)[number]; presence: Presence; after: number }[];
}

/** What orgs said since the last time that the component was shipped, or dropped anew: the newest of each. */
function evidenceOf({ log, said }: Entry): Partial<Record<(typeof ENVIRONMENTS)[number], Presence>> {
  const since =
    1 +
    log.findLastIndex(
      ({ from, to, by }) =>
        by === 'events' && ([from, to].includes('restored') || to === 'detected' || from === 'reclaimed'),
    );
  return Object.fromEntries(
    said.filter(({ after }) => after >= since).map(({ environment, presence }) => [environment, presence]),
  );
}

/** The ledger of one branch, entry by entry, as the interface describes it. */
class Model {
  readonly entries = new Map<string, Entry>();
  readonly manifests: Partial<Record<Package, Manifest>> = {};

  events(events: { type: string; packageName: Package; fullName: string }[]): void {
    const last = new Map(events.map((event) => [`${event.packageName} ${event.fullName}`, event]));
    const before = new Map([...this.entries].map(([key, { status, movedTo }]) => [key, { status, movedTo }]));
    for (const [key, { type }] of last) {
      const entry = this.entries.get(key) ?? { status: '', movedTo: null, log: [], said: [] };
      if (entry.status !== 'dismissed' && entry.status !== type) Object.assign(entry, { status: type, movedTo: null });
      this.entries.set(key, entry);
    }
    for (const [key, entry] of this.entries) {
      this.#derive(key, entry);
      const old = before.get(key);
      if (old?.status === entry.status && old.movedTo === entry.movedTo) continue;
      entry.log.push({ from: old?.status, to: entry.status, by: 'events' });
    }
  }

  #derive(key: string, entry: Entry): void {
    const [packageName, fullName] = key.split(' ') as [Package, string];
    const own = this.manifests[packageName];
    if (!own || !['detected', 'moved', 'dismissed'].includes(entry.status)) return;
    const other = PACKAGES.find((name) => name !== packageName && this.manifests[name]?.has.includes(fullName));
    if (own.has.includes(fullName)) Object.assign(entry, { status: 'restored', movedTo: null });
    else if (entry.status === 'dismissed') return;
    else if (other) Object.assign(entry, { status: 'moved', movedTo: other });
    else if (PACKAGES.some((name) => this.manifests[name]?.destroys.includes(fullName)))
      Object.assign(entry, { status: 'handled', movedTo: null });
  }

  /** The status of the reply. */
  decide(decision: 'dismiss' | 'reopen', key: string): number {
    const entry = this.entries.get(key);
    if (!entry) return 404;
    const [from, to] = decision === 'dismiss' ? ['detected', 'dismissed'] : ['dismissed', 'detected'];
    if (entry.status === to) return 204;
    if (entry.status !== from) return 409;
    Object.assign(entry, { status: to, movedTo: null });
    entry.log.push({ from, to, by: 'person' });
    return 204;
  }

  check(environment: (typeof ENVIRONMENTS)[number], results: { key: string; presence: Presence }[]): void {
    const last = new Map(results.map(({ key, presence }) => [key, presence]));
    for (const [key, presence] of last) {
      const entry = this.entries.get(key);
      if (!entry) continue;
      entry.said.push({ environment, presence, after: entry.log.length });
      const evidence = evidenceOf(entry);
      const before = entry.status;
      if (evidence.uat === 'absent' && evidence.production === 'absent') this.entries.delete(key);
      else if (evidence.production === 'absent' && before !== 'dismissed' && before !== 'restored')
        Object.assign(entry, { status: 'reclaimed', movedTo: null });
      else if (evidence.production === 'present' && before === 'reclaimed') {
        Object.assign(entry, { status: 'detected', movedTo: null });
        this.#derive(key, entry);
      }
      if (entry.status !== before) entry.log.push({ from: before, to: entry.status, by: 'check' });
    }
  }

  shown = () =>
    [...this.entries]
      .map(([key, entry]) => {
        const { status, movedTo, log } = entry;
        return { key, status, movedTo, changes: log.length, presence: evidenceOf(entry) };
      })
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const anyPackage = fc.constantFrom(...PACKAGES);
const anyName = fc.constantFrom(...NAMES);
const anyNames = fc.uniqueArray(anyName);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('events' as const),
      events: fc.array(
        fc.record({ type: fc.constantFrom('detected', 'moved'), packageName: anyPackage, fullName: anyName }),
        { maxLength: 4 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      packageName: anyPackage,
      has: anyNames,
      destroys: anyNames,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unreadable' as const), packageName: anyPackage }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('decide' as const),
      decision: fc.constantFrom('dismiss' as const, 'reopen' as const),
      packageName: anyPackage,
      fullName: anyName,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('check' as const),
      environment: fc.constantFrom(...ENVIRONMENTS),
      results: fc.array(
        fc.record({
          packageName: anyPackage,
          fullName: anyName,
          presence: fc.constantFrom<Presence>('present', 'absent', 'unknown'),
        }),
        { maxLength: 5 },
      ),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(ledger: Ledger, model: Model, given: Step): Promise<void> {
  switch (given.kind) {
    case 'events':
      model.events(given.events);
      return void (await ledger.events(
        given.events.map(({ type, fullName, packageName }) => ({ type, ...dropped(fullName, { packageName }) })),
      ));
    case 'publish': {
      const { packageName, has, destroys } = given;
      model.manifests[packageName] = { has, destroys };
      return ledger.publish(packageName, { ApexClass: has }, { destroys: { ApexClass: destroys } });
    }
    case 'unreadable':
      model.manifests[given.packageName] = undefined;
      return ledger.publishValue(given.packageName, { payload: 'unreadable' });
    case 'decide': {
      const { decision, packageName, fullName } = given;
      const status = model.decide(decision, `${packageName} ${fullName}`);
      return void (await ledger.decide(decision, dropped(fullName, { packageName }), status));
    }
    case 'check': {
      const { environment, results } = given;
      model.check(
        environment,
        results.map(({ packageName, fullName, presence }) => ({ key: `${packageName} ${fullName}`, presence })),
      );
      return void (await ledger.check(
        environment,
        results.map(({ fullName, packageName, presence }) => ({ ...dropped(fullName, { packageName }), presence })),
      ));
    }
  }
}

const shownBy = async (ledger: Ledger) => {
  const { items, total } = await ledger.list();
  expect(total).toBe(items.length);
  return items.map(({ packageName, fullName, status, movedTo, history, presence }: Json) => ({
    key: `${packageName} ${fullName}`,
    status,
    movedTo,
    changes: history.length,
    presence: Object.fromEntries(presence.map((each: Json) => [each.environment, each.presence])),
  }));
};

test('any series of events, manifests, decisions and checks ends as the model says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const [ledger, model] = [await ledgerOf(app), new Model()];
      await ledger.environment('uat');
      await ledger.environment('production', { category: 'release' });
      for (const each of steps) {
        await take(ledger, model, each);
        expect(await shownBy(ledger)).toEqual(model.shown());
      }
      // What this one's manifests hold is not to be found elsewhere by the next.
      await app.sql('delete from document');
    }),
    propertyRuns(4, 15),
  );
});
