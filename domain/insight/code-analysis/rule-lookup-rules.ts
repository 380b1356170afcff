import type {
  DescriptorReference,
  FoundRule,
  Level,
  SarifResult,
  SarifRun,
  ToolComponent,
} from './sarif/sarif-rules.ts';

/** Most characters of a rule's id that count. */
export const RULE_ID_MAX = 1_000;
/** An id and what it is a part of: no tool goes deeper. */
const ID_LEVELS = 10;

/** Rules of one component, or of several, the first ones before the others. */
interface Index {
  byId: Map<string, FoundRule>;
  byGuid: Map<string, FoundRule>;
}

/** Levels that an invocation gave rules. */
interface Overrides {
  byRule: Map<FoundRule['rule'], Level>;
  byId: Map<string, Level>;
}

/** An id, and what it is a part of: `CA1000/1` is of the rule `CA1000` (3.27.5, 3.52.4). */
function* idsOf(ruleId: string): Generator<string> {
  let id = ruleId.slice(0, RULE_ID_MAX);
  for (let level = 0; level < ID_LEVELS && id !== ''; level++) {
    yield id;
    id = id.slice(0, Math.max(0, id.lastIndexOf('/')));
  }
}

function addFirst<Key, Value>(map: Map<Key, Value>, key: Key | undefined, value: Value): void {
  if (key !== undefined && !map.has(key)) map.set(key, value);
}

function indexOf(components: readonly ToolComponent[]): Index {
  const index: Index = { byId: new Map(), byGuid: new Map() };
  for (const component of components)
    for (const rule of component.rules ?? []) {
      addFirst(index.byId, rule.id.slice(0, RULE_ID_MAX), { rule, component });
      addFirst(index.byGuid, rule.guid?.toLowerCase(), { rule, component });
    }
  return index;
}

/** What a run says of its rules. Made once per run: looking up takes the same time however many there are. */
export class RuleLookup {
  readonly #run: SarifRun;
  readonly #all: Index;
  readonly #byComponent = new Map<ToolComponent, Index>();
  readonly #byName = new Map<string, ToolComponent>();
  readonly #byGuid = new Map<string, ToolComponent>();
  readonly #overrides = new Map<number, Overrides>();

  constructor(run: SarifRun) {
    const components = [run.tool.driver, ...(run.tool.extensions ?? [])];
    this.#run = run;
    this.#all = indexOf(components);
    for (const component of components) {
      addFirst(this.#byName, component.name, component);
      addFirst(this.#byGuid, component.guid?.toLowerCase(), component);
    }
  }

  /** The rule of a result: by index, else by guid, else by id with hierarchical prefixes. */
  ruleOf({ rule: reference, ruleIndex, ruleId = reference?.id }: SarifResult): FoundRule | undefined {
    const component = this.#componentOf(reference);
    const found = this.#byIndex(component, reference?.index ?? ruleIndex);
    if (found) return found;
    const { byGuid, byId } = this.#indexOf(component);
    const ofGuid = reference?.guid === undefined ? undefined : byGuid.get(reference.guid.toLowerCase());
    if (ofGuid) return ofGuid;
    for (const id of idsOf(ruleId ?? '')) {
      const ofId = byId.get(id);
      if (ofId) return ofId;
    }
    return undefined;
  }

  /** The level of a result (3.27.10): of its own, of the invocation, of its rule, else `warning`. */
  levelOf(result: SarifResult, found: FoundRule | undefined): Level {
    if (result.kind !== undefined && result.kind !== 'fail') return 'none';
    if (result.level !== undefined) return result.level;
    const given = found && (this.#overriddenLevel(result, found) ?? found.rule.defaultConfiguration?.level);
    return given ?? 'warning';
  }

  /** The component that a reference names; undefined when it names none. */
  #componentOf(reference: DescriptorReference | undefined): ToolComponent | undefined {
    const named = reference?.toolComponent;
    if (!named) return undefined;
    if (named.index !== undefined && named.index >= 0) return this.#run.tool.extensions?.[named.index];
    const ofGuid = named.guid === undefined ? undefined : this.#byGuid.get(named.guid.toLowerCase());
    return ofGuid ?? (named.name === undefined ? undefined : this.#byName.get(named.name));
  }

  /** An index without a component counts in the driver (3.54). */
  #byIndex(component: ToolComponent = this.#run.tool.driver, index: number | undefined): FoundRule | undefined {
    const rule = index === undefined || index < 0 ? undefined : component.rules?.[index];
    return rule && { rule, component };
  }

  #indexOf(component: ToolComponent | undefined): Index {
    if (!component) return this.#all;
    let index = this.#byComponent.get(component);
    if (!index) this.#byComponent.set(component, (index = indexOf([component])));
    return index;
  }

  /** The level that an invocation gave a rule; of several invocations the one that the result names (3.20.5). */
  #overriddenLevel({ provenance }: SarifResult, { rule }: FoundRule): Level | undefined {
    const { invocations = [] } = this.#run;
    const named = provenance?.invocationIndex ?? -1;
    const at = named < 0 && invocations.length === 1 ? 0 : named;
    if (at < 0 || at >= invocations.length) return undefined;
    let overrides = this.#overrides.get(at);
    if (!overrides) this.#overrides.set(at, (overrides = this.#overridesOf(at)));
    return overrides.byRule.get(rule) ?? overrides.byId.get(rule.id);
  }

  #overridesOf(at: number): Overrides {
    const overrides: Overrides = { byRule: new Map(), byId: new Map() };
    for (const { descriptor, configuration } of this.#run.invocations?.[at]?.ruleConfigurationOverrides ?? []) {
      const { level } = configuration;
      if (level === undefined) continue;
      const component = this.#componentOf(descriptor);
      const { byGuid, byId } = this.#indexOf(component);
      const found =
        this.#byIndex(component, descriptor.index) ??
        byGuid.get(descriptor.guid?.toLowerCase() ?? '') ??
        (component && byId.get(descriptor.id ?? ''));
      if (found) addFirst(overrides.byRule, found.rule, level);
      // Without a component the rules of all that have the id are meant.
      else addFirst(overrides.byId, descriptor.id, level);
    }
    return overrides;
  }
}
