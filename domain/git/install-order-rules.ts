/** What packages depend on, by name; one that is missing depends on nothing. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Names with those among them on which each depends, also by way of packages that are not among them. */
function dependenciesAmong(names: ReadonlySet<string>, dependencies: Dependencies): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const name of names) {
    const own = new Set<string>();
    const seen = new Set<string>();
    const pending = [...(dependencies.get(name) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (names.has(next)) own.add(next);
      else if (!seen.has(next)) pending.push(...(dependencies.get(next) ?? []));
      seen.add(next);
    }
    found.set(name, own);
  }
  return found;
}

/**
 * Packages that depend on each other, directly or not: groups of two or more, in the order of their first names.
 * Tarjan's algorithm (SIAM Journal on Computing 1, 1972), without recursion.
 */
export function dependencyCycles(dependencies: Dependencies): string[][] {
  const cycles: string[][] = [];
  const indexOf = new Map<string, number>();
  const lowOf = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const visit = (name: string) => {
    indexOf.set(name, indexOf.size);
    lowOf.set(name, indexOf.size - 1);
    open.push(name);
    isOpen.add(name);
    return { name, next: 0 };
  };
  const lower = (name: string, to = Number.POSITIVE_INFINITY) => lowOf.set(name, Math.min(lowOf.get(name) ?? to, to));
  const close = (name: string) => {
    const group = open.splice(open.lastIndexOf(name));
    for (const each of group) isOpen.delete(each);
    if (group.length > 1) cycles.push(group.toSorted(byName));
  };
  for (const root of dependencies.keys()) {
    if (indexOf.has(root)) continue;
    const path = [visit(root)];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const dependency = dependencies.get(step.name)?.[step.next++];
      if (dependency !== undefined) {
        if (!indexOf.has(dependency)) path.push(visit(dependency));
        else if (isOpen.has(dependency)) lower(step.name, indexOf.get(dependency));
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) lower(above.name, lowOf.get(step.name));
      if (lowOf.get(step.name) === indexOf.get(step.name)) close(step.name);
    }
  }
  return cycles.toSorted(([a = ''], [b = '']) => byName(a, b));
}

export interface InstallOrder {
  /** Each behind what it depends on; of all such orders the alphabetically smallest. */
  order: string[];
  /** Packages that depend on each other, so that nothing orders them. */
  cycles: string[][];
}

/** The order in which packages have to be installed. */
export function installOrder(packages: Iterable<string>, dependencies: Dependencies): InstallOrder {
  const names = new Set(packages);
  const among = dependenciesAmong(names, dependencies);
  const groupOf = new Map<string, readonly string[]>();
  for (const cycle of dependencyCycles(new Map([...among].map(([name, own]) => [name, [...own]]))))
    for (const name of cycle) groupOf.set(name, cycle);
  const withCycle = (name: string) => groupOf.get(name) ?? [name];
  // A cycle as a whole follows what any of it depends on.
  const predecessorsOf = (name: string) => {
    const own = withCycle(name);
    const all = own.flatMap((each) => [...(among.get(each) ?? [])].flatMap(withCycle));
    return new Set(all.filter((each) => !own.includes(each)));
  };
  const waitingFor = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const name of names) {
    const before = predecessorsOf(name);
    waitingFor.set(name, before.size);
    for (const dependency of before) dependents.set(dependency, [...(dependents.get(dependency) ?? []), name]);
  }
  // The smallest name comes last, where it is taken.
  const free = [...names].filter((name) => waitingFor.get(name) === 0).toSorted((a, b) => byName(b, a));
  const order: string[] = [];
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    order.push(name);
    for (const dependent of dependents.get(name) ?? []) {
      const left = (waitingFor.get(dependent) ?? 0) - 1;
      waitingFor.set(dependent, left);
      if (left === 0) free.splice(placeIn(free, dependent), 0, dependent);
    }
  }
  const all = dependencyCycles(dependencies);
  return { order, cycles: all.filter((cycle) => cycle.some((name) => names.has(name))) };
}

/** Where a name belongs among names in descending order. */
function placeIn(descending: readonly string[], name: string): number {
  let [low, high] = [0, descending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byName(descending[middle] ?? '', name) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Things with names, such as changes of packages, in the order in which these have to be installed. */
export function inInstallOrder<Named extends { name: string }>(
  things: readonly Named[],
  dependencies: Dependencies,
): Named[] {
  const { order } = installOrder(
    things.map(({ name }) => name),
    dependencies,
  );
  const placeOf = new Map(order.map((name, place) => [name, place]));
  return things.toSorted((a, b) => (placeOf.get(a.name) ?? 0) - (placeOf.get(b.name) ?? 0));
}
