/** Names and places from the root of a JSON text to a value in it. */
export type JsonPath = readonly (string | number)[];

/** Levels of results, the most severe first. */
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

/** A rule that results are of, and the component that it belongs to. */
export interface FoundRule {
  rule: Descriptor;
  component: ToolComponent;
}

/** 3.14, without its results. */
export interface SarifRun {
  tool: { driver: ToolComponent; extensions?: ToolComponent[] };
  invocations?: Invocation[];
  /** 3.8 */
  properties?: Record<string, unknown>;
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

/** Whether a result is suppressed: it has suppressions, and all are accepted, which is what a missing status means (3.27.23). */
export const isSuppressed = ({ suppressions = [] }: SarifResult): boolean =>
  suppressions.length > 0 && suppressions.every(({ status = 'accepted' }) => status === 'accepted');

/** Whether a result is only listed because an earlier run had it (3.27.24). */
export const isAbsent = ({ baselineState }: SarifResult): boolean => baselineState === 'absent';

/** Most characters of a message: nobody reads more. */
export const MESSAGE_MAX = 2_000;
/** Most characters of a message's template, with its placeholders for arguments. */
export const TEMPLATE_MAX = 2 * MESSAGE_MAX;

/** The first `MESSAGE_MAX` characters of the message of a result in plain text (3.11), with its arguments in the places of the rule's text. */
export function messageOf({ message }: SarifResult, found: FoundRule | undefined): string {
  const { text, markdown, id, arguments: given = [] } = message;
  const template = (
    text ??
    markdown ??
    (id === undefined
      ? undefined
      : (found?.rule.messageStrings?.[id]?.text ?? found?.component.globalMessageStrings?.[id]?.text)) ??
    ''
  ).slice(0, TEMPLATE_MAX);
  let shown = '';
  let at = 0;
  // {{ and }} stand for braces (3.11.5).
  for (const { 0: part, 1: place, index } of template.matchAll(/\{\{|\}\}|\{(\d+)\}/g)) {
    const filled = place === undefined ? part.charAt(0) : (given[Number(place)] ?? part);
    shown += template.slice(at, index) + filled.slice(0, MESSAGE_MAX);
    at = index + part.length;
    if (shown.length >= MESSAGE_MAX) return shown.slice(0, MESSAGE_MAX);
  }
  return (shown + template.slice(at)).slice(0, MESSAGE_MAX);
}

/** Whether no invocation of a run says that it failed. */
export const wasSuccessful = ({ invocations = [] }: SarifRun): boolean =>
  invocations.every(({ executionSuccessful }) => executionSuccessful !== false);
