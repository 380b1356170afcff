/** Names and places from the root of a JSON text to a value in it. */
export type JsonPath = readonly (string | number)[];

/** Of a level of a result, the most severe first. */
export const LEVELS = ['error', 'warning', 'note', 'none'] as const;
export type Level = (typeof LEVELS)[number];

// What is used of SARIF 2.1.0, by the sections of the standard.

/** 3.4 */
export interface ArtifactLocation {
  uri?: string;
  uriBaseId?: string;
  index?: number;
}

/** 3.52 and 3.54: names a rule, or another descriptor, of a component. */
export interface DescriptorReference {
  id?: string;
  index?: number;
  guid?: string;
  toolComponent?: { name?: string; index?: number; guid?: string };
}

/** 3.49 */
export interface Descriptor {
  id: string;
  guid?: string;
  name?: string;
  defaultConfiguration?: { level?: Level };
  messageStrings?: Record<string, { text: string }>;
}

/** 3.19 */
export interface ToolComponent {
  name: string;
  guid?: string;
  version?: string;
  semanticVersion?: string;
  rules?: Descriptor[];
  globalMessageStrings?: Record<string, { text: string }>;
}

/** 3.20 */
export interface Invocation {
  executionSuccessful?: boolean;
  workingDirectory?: ArtifactLocation;
  ruleConfigurationOverrides?: { descriptor: DescriptorReference; configuration: { level?: Level } }[];
}

/** 3.14, without its results. */
export interface SarifRun {
  tool: { driver: ToolComponent; extensions?: ToolComponent[] };
  invocations?: Invocation[];
  artifacts?: { location?: ArtifactLocation }[];
  originalUriBaseIds?: Record<string, ArtifactLocation>;
  versionControlProvenance?: { mappedTo?: ArtifactLocation }[];
}

/** 3.27 */
export interface SarifResult {
  ruleId?: string;
  ruleIndex?: number;
  rule?: DescriptorReference;
  kind?: string;
  level?: Level;
  message: { text?: string; markdown?: string; id?: string; arguments?: string[] };
  locations?: {
    physicalLocation?: { artifactLocation?: ArtifactLocation; region?: { startLine?: number } };
  }[];
  suppressions?: { status?: string }[];
  baselineState?: string;
  partialFingerprints?: Record<string, string>;
  provenance?: { invocationIndex?: number };
}

/** A rule that results are of, and the component that it belongs to. */
interface FoundRule {
  rule: Descriptor;
  component: ToolComponent;
}

/** The component that a reference names; the driver when it names none (3.54). */
function componentOf({ tool }: SarifRun, reference: DescriptorReference | undefined): ToolComponent | undefined {
  const { driver, extensions = [] } = tool;
  const named = reference?.toolComponent;
  if (!named) return undefined;
  if (named.index !== undefined && named.index >= 0) return extensions[named.index];
  return [driver, ...extensions].find(
    ({ guid, name }) =>
      (named.guid !== undefined && guid?.toLowerCase() === named.guid.toLowerCase()) || name === named.name,
  );
}

/** An id, and what it is a part of: `CA1000/1` is of the rule `CA1000` (3.27.5, 3.52.4). */
function* idsOf(ruleId: string): Generator<string> {
  for (let id = ruleId; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('/')))) yield id;
}

/** Finds the rules of the results of a run: by index, else by guid, else by id with hierarchical prefixes. */
export function ruleFinder(run: SarifRun): (result: SarifResult) => FoundRule | undefined {
  const components = [run.tool.driver, ...(run.tool.extensions ?? [])];
  const byId = new Map(
    components.map((component) => [component, new Map((component.rules ?? []).map((rule) => [rule.id, rule]))]),
  );
  return ({ rule: reference, ruleIndex, ruleId = reference?.id }) => {
    const named = componentOf(run, reference);
    const index = reference?.index ?? ruleIndex;
    if (index !== undefined && index >= 0) {
      const component = named ?? run.tool.driver;
      const rule = component.rules?.[index];
      if (rule) return { rule, component };
    }
    const candidates = named ? [named] : components;
    const guid = reference?.guid?.toLowerCase();
    for (const component of guid === undefined ? [] : candidates) {
      const rule = component.rules?.find((one) => one.guid?.toLowerCase() === guid);
      if (rule) return { rule, component };
    }
    for (const id of idsOf(ruleId ?? ''))
      for (const component of candidates) {
        const rule = byId.get(component)?.get(id);
        if (rule) return { rule, component };
      }
    return undefined;
  };
}

/** The level that an invocation gave a rule; of several invocations the one that the result names (3.20.5). */
function overriddenLevel(run: SarifRun, { provenance }: SarifResult, { rule, component }: FoundRule) {
  const { invocations = [] } = run;
  const index = provenance?.invocationIndex ?? (invocations.length === 1 ? 0 : -1);
  for (const { descriptor, configuration } of invocations[index]?.ruleConfigurationOverrides ?? []) {
    const of = componentOf(run, descriptor);
    const isRule =
      (descriptor.index !== undefined && (of ?? run.tool.driver).rules?.[descriptor.index] === rule) ||
      (descriptor.id === rule.id && (of === undefined || of === component));
    if (isRule && configuration.level !== undefined) return configuration.level;
  }
  return undefined;
}

/** The level of a result (3.27.10): of its own, of the invocation, of its rule, else `warning`. */
export function levelOf(run: SarifRun, result: SarifResult, found: FoundRule | undefined): Level {
  if (result.kind !== undefined && result.kind !== 'fail') return 'none';
  if (result.level !== undefined) return result.level;
  const given = found && (overriddenLevel(run, result, found) ?? found.rule.defaultConfiguration?.level);
  return given ?? 'warning';
}

/** Whether a result is suppressed: it has suppressions, and all are accepted, which is what a missing status means (3.27.23). */
export const isSuppressed = ({ suppressions = [] }: SarifResult): boolean =>
  suppressions.length > 0 && suppressions.every(({ status = 'accepted' }) => status === 'accepted');

/** Whether a result is only listed because an earlier run had it (3.27.24). */
export const isAbsent = ({ baselineState }: SarifResult): boolean => baselineState === 'absent';

/** The message of a result in plain text (3.11), with its arguments in the places of the rule's text. */
export function messageOf({ message }: SarifResult, found: FoundRule | undefined): string {
  const { text, markdown, id, arguments: given = [] } = message;
  const template =
    text ??
    markdown ??
    (id === undefined
      ? undefined
      : (found?.rule.messageStrings?.[id]?.text ?? found?.component.globalMessageStrings?.[id]?.text));
  if (template === undefined) return '';
  // {{ and }} stand for braces (3.11.5).
  return template.replaceAll(/\{\{|\}\}|\{(\d+)\}/g, (part, place: string | undefined) =>
    place === undefined ? part.charAt(0) : (given[Number(place)] ?? part),
  );
}

/** Whether no invocation of a run says that it failed. */
export const wasSuccessful = ({ invocations = [] }: SarifRun): boolean =>
  invocations.every(({ executionSuccessful }) => executionSuccessful !== false);
