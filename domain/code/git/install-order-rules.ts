/** What packages depend on, by name; one that is missing depends on nothing. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Groups of packages that depend on each other, directly or not; one that is in no cycle is a group of its own.
 * Tarjan's algorithm (SIAM Journal on Computing 1, 1972), without recursion.
 */
function dependencyGroups(roots: Iterable<string>, dependencies: Dependencies): string[][] {
  const groups: string[][] = [];
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
    groups.push(group);
  };
  for (const root of roots) {
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
  return groups;
}

const cyclesOf = (groups: readonly (readonly string[])[]): string[][] =>
  groups
    .flatMap((group) => (group.length > 1 ? [group.toSorted(byName)] : []))
    .toSorted(([a = ''], [b = '']) => byName(a, b));

/** Packages that depend on each other, directly or not: groups of two or more, in the order of their first names. */
export const dependencyCycles = (dependencies: Dependencies): string[][] =>
  cyclesOf(dependencyGroups(dependencies.keys(), dependencies));

export interface InstallOrder {
  /** Each behind what it depends on; of all such orders the alphabetically smallest. */
  order: string[];
  /** Packages that depend on each other, so that nothing orders them. */
  cycles: string[][];
}

/**
 * The order in which packages have to be installed. A package follows what it depends on by way of packages that are not
 * among them, too, and a cycle as a whole follows what any of it depends on.
 */
export function installOrder(packages: Iterable<string>, dependencies: Dependencies): InstallOrder {
  const names = new Set(packages);
  const groups = dependencyGroups([...names, ...dependencies.keys()], dependencies).map((members) => ({
    members,
    /** How many of the wanted packages in this group have no position in the order yet. */
    left: members.filter((name) => names.has(name)).length,
    waitingFor: 0,
    dependents: new Array<number>(),
  }));
  const groupOf = new Map(groups.flatMap(({ members }, index) => members.map((name) => [name, index] as const)));
  for (const [index, group] of groups.entries())
    for (const dependency of group.members.flatMap((name) => dependencies.get(name) ?? [])) {
      const before = groupOf.get(dependency) ?? index;
      if (before === index) continue;
      groups[before]?.dependents.push(index);
      group.waitingFor++;
    }
  // The smallest name comes last, where it is taken.
  const free: string[] = [];
  const open = (index: number) => {
    const pending = [index];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const group = groups[next];
      for (const name of group?.members ?? []) if (names.has(name)) free.splice(placeIn(free, name), 0, name);
      if (group?.left === 0) pending.push(...close(group.dependents));
    }
  };
  /** Closes the dependents that wait for nothing more. */
  const close = (dependents: readonly number[]) =>
    dependents.filter((dependent) => {
      const group = groups[dependent];
      return group !== undefined && --group.waitingFor === 0;
    });
  for (const index of groups.flatMap(({ waitingFor }, place) => (waitingFor === 0 ? [place] : []))) open(index);
  const order: string[] = [];
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    order.push(name);
    const group = groups[groupOf.get(name) ?? -1];
    if (group && --group.left === 0) for (const dependent of close(group.dependents)) open(dependent);
  }
  const cycles = cyclesOf(groups.map(({ members }) => members));
  return { order, cycles: cycles.filter((cycle) => cycle.some((name) => names.has(name))) };
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
