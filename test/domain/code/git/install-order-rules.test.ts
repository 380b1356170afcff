import fc from 'fast-check';
import { dependencyCycles, inInstallOrder, installOrder } from '../../../../domain/code/git/install-order-rules.ts';
import { packagesOfManifest } from '../../../../domain/code/git/package-rules.ts';
import { threadCpuMs } from '../../../support/thread-cpu.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** All orders, the alphabetically smallest first. */
function* ordersOf(names: readonly string[]): Generator<string[]> {
  if (names.length === 0) yield [];
  for (const name of names) for (const rest of ordersOf(names.filter((each) => each !== name))) yield [name, ...rest];
}

/** Whether a package needs another, directly or not. */
function needs(dependencies: ReadonlyMap<string, readonly string[]>, name: string, other: string): boolean {
  const seen = new Set<string>();
  const pending = [...(dependencies.get(name) ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === other) return true;
    if (!seen.has(next)) pending.push(...(dependencies.get(next) ?? []));
    seen.add(next);
  }
  return false;
}

const someDependencies = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES)), { maxLength: 9 })
  .map((pairs) => new Map(NAMES.map((name) => [name, pairs.filter(([from]) => from === name).map(([, to]) => to)])));

test('the order is the first of all orders in which each package follows what it needs; cycles order nothing', () => {
  fc.assert(
    fc.property(someDependencies, fc.subarray(NAMES), (dependencies, names) => {
      const isBefore = (a: string, b: string) => needs(dependencies, b, a) && !needs(dependencies, a, b);
      const isFit = (order: string[]) =>
        order.every((name, place) => order.slice(place + 1).every((later) => !isBefore(later, name)));
      const { order, cycles } = installOrder(names, dependencies);
      expect(order).toEqual(ordersOf(names.toSorted()).find(isFit));
      const inCycle = (name: string) =>
        NAMES.filter((other) => name !== other && needs(dependencies, name, other) && needs(dependencies, other, name));
      const expected = new Set(
        names.flatMap((name) => (inCycle(name).length > 0 ? [name, ...inCycle(name)].toSorted().join() : [])),
      );
      expect(cycles.map((cycle) => cycle.join())).toEqual([...expected].toSorted());
    }),
    propertyRuns(150, 500),
  );
});

test('thousands of packages in one line are ordered, and a cycle of thousands is found', () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `p${String(index).padStart(4, '0')}`);
  const line = new Map(names.map((name, index) => [name, names.slice(index + 1, index + 2)]));
  expect(installOrder(names, line)).toEqual({ order: names.toReversed(), cycles: [] });
  line.set(names.at(-1) ?? '', ['p0000']);
  expect(dependencyCycles(line)).toEqual([names]);
  expect(inInstallOrder([{ name: 'p0002' }, { name: 'p0001' }], line).map(({ name }) => name)).toEqual([
    'p0001',
    'p0002',
  ]);
});

test('packages that all depend on each other are ordered at once, with what follows them', () => {
  const names = Array.from({ length: 300 }, (_, index) => `p${String(index).padStart(3, '0')}`);
  const dependencies = new Map<string, string[]>([
    ['a', names],
    ...names.map((name): [string, string[]] => [name, [...names, 'z']]),
  ]);
  const expected = { order: ['z', ...names, 'a'], cycles: [names] };
  const cpuMs = threadCpuMs(() => expect(installOrder(['a', ...names, 'z'], dependencies)).toEqual(expected));
  expect(cpuMs).toBeLessThan(1_000);
});

test('a manifest names dependencies by packages, by aliases and by ids', () => {
  const manifest = {
    packageDirectories: [
      { path: 'base', package: 'base' },
      {
        path: 'app',
        package: 'app',
        dependencies: [
          { package: 'base', versionNumber: '1.2.0.LATEST' },
          { package: 'tools@3.1.0-2' },
          { package: '04t000000000001AAA' },
          { package: '0Ho000000000002AAA', versionNumber: '1.0.0.RELEASED' },
          { package: '04t000000000009AAA' },
          { package: 'app' },
          { package: 7 },
          null,
        ],
      },
    ],
    packageAliases: { 'other@1.0.0-1': '04t000000000001AAA', third: '0Ho000000000002AAA', wrong: 3 },
  };
  expect(packagesOfManifest(JSON.stringify(manifest))).toEqual([
    { name: 'base', path: 'base', versionNumber: null, dependencies: [] },
    {
      name: 'app',
      path: 'app',
      versionNumber: null,
      dependencies: ['base', 'tools', 'other', 'third', '04t000000000009AAA'],
    },
  ]);
});
