import {
  isAbsent,
  isSuppressed,
  type Level,
  LEVELS,
  MESSAGE_MAX,
  messageOf,
  type SarifResult,
  type SarifRun,
  wasSuccessful,
} from './sarif/sarif-rules.ts';
import { RULE_ID_MAX, RuleLookup } from './rule-lookup-rules.ts';
import { type CutTool, foundIn } from './sarif/cut-rules.ts';
import { pathReducer, URI_MAX } from './sarif/sarif-path-rules.ts';

export interface RuleCount {
  ruleId: string;
  ruleName: string;
  count: number;
  /** The highest of its results. */
  level: Level;
}

export interface UsedTool {
  name: string;
  version: string | null;
}

/** What a run of an analysis found, in numbers. */
export interface AnalysisSummary {
  /** The sum of `issuesByLevel`. */
  totalIssues: number;
  issuesByLevel: Record<Level, number>;
  /** The most severe and most frequent ones. */
  issuesByRule: RuleCount[];
  toolsUsed: UsedTool[];
  filesAffected: number;
  analysisSuccessful: boolean;
  /** Results that are suppressed, which the other numbers leave out. */
  suppressed: number;
  /** Tools that found more than is kept, which no other number counts; absent: none, or stored before it was noted. */
  cutTools?: CutTool[];
}

/** A result, with what its run says of it. */
export interface Issue {
  tool: string;
  ruleId: string;
  ruleName: string;
  level: Level;
  isSuppressed: boolean;
  /** In the repository; empty without a place. */
  path: string;
  startLine: number | null;
  message: string;
  /** Hash of the line, as the tool gave it. */
  lineHash: string | null;
}

/** A list of rules beyond that is of no use to anybody. */
const RULES_MAX = 1_000;
const NAME_MAX = 1_000;
/** Between two pauses. */
const ISSUES_PER_STEP = 500;
const INTEGER_MAX = 2 ** 31 - 1;

/** A text as PostgreSQL can keep it, and no longer than `max`. */
const storable = (text: string, max: number): string => text.slice(0, max).toWellFormed().replaceAll('\0', '\ufffd');

/** The issues of a run: its results, without those that only an earlier run had. */
export function* issuesOf(
  run: SarifRun,
  results: readonly SarifResult[],
  repositoryIdentifier: string,
): Generator<Issue> {
  const rules = new RuleLookup(run);
  const pathOf = pathReducer(run, repositoryIdentifier);
  const tool = storable(run.tool.driver.name, NAME_MAX);
  for (const result of results) {
    if (isAbsent(result)) continue;
    const found = rules.ruleOf(result);
    const place = result.locations?.[0]?.physicalLocation;
    const ruleId = storable(found?.rule.id ?? result.ruleId ?? result.rule?.id ?? '', RULE_ID_MAX);
    const startLine = place?.region?.startLine ?? null;
    yield {
      tool,
      ruleId,
      ruleName: storable(found?.rule.name ?? ruleId, NAME_MAX),
      level: rules.levelOf(result, found),
      isSuppressed: isSuppressed(result),
      path: storable(pathOf(place?.artifactLocation), URI_MAX),
      startLine: startLine !== null && startLine <= INTEGER_MAX ? startLine : null,
      message: storable(messageOf(result, found), MESSAGE_MAX),
      lineHash: result.partialFingerprints?.primaryLocationLineHash ?? null,
    };
  }
}

/** Adds up the runs of an analysis. */
export class SummaryTally {
  readonly #levels: Record<Level, number> = { error: 0, warning: 0, note: 0, none: 0 };
  readonly #rules = new Map<string, RuleCount>();
  readonly #files = new Set<string>();
  readonly #tools = new Map<string, UsedTool>();
  readonly #ofTools = new Map<string, CutTool>();
  #suppressed = 0;
  #isSuccessful = true;

  /** Adds a run with its issues; pauses at each `yield`. */
  *steps(run: SarifRun, issues: Iterable<Issue>): Generator<undefined, void> {
    const { name, semanticVersion, version } = run.tool.driver;
    const given = semanticVersion ?? version;
    const tool = {
      name: storable(name, NAME_MAX),
      version: given === undefined ? null : storable(given, NAME_MAX),
    };
    this.#tools.set(`${tool.name} ${tool.version}`, tool);
    this.#isSuccessful &&= wasSuccessful(run);
    let counted = 0;
    for (const issue of issues) {
      this.#count(issue);
      if (++counted % ISSUES_PER_STEP === 0) yield;
    }
    const before = this.#ofTools.get(tool.name) ?? { kept: 0, found: 0 };
    const found = before.found + foundIn(run.properties, counted);
    this.#ofTools.set(tool.name, { tool: tool.name, kept: before.kept + counted, found });
  }

  #count({ isSuppressed: isLeftOut, level, ruleId, ruleName, path }: Issue): void {
    if (isLeftOut) {
      this.#suppressed++;
      return;
    }
    this.#levels[level]++;
    if (path !== '') this.#files.add(path);
    const rule = this.#rules.get(ruleId);
    if (!rule) this.#rules.set(ruleId, { ruleId, ruleName, count: 1, level });
    else {
      rule.count++;
      if (LEVELS.indexOf(level) < LEVELS.indexOf(rule.level)) rule.level = level;
    }
  }

  get summary(): AnalysisSummary {
    const bySeverity = (a: RuleCount, b: RuleCount) =>
      LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || b.count - a.count || (a.ruleId < b.ruleId ? -1 : 1);
    const cutTools = [...this.#ofTools.values()].filter(({ kept, found }) => found > kept);
    return {
      totalIssues: LEVELS.reduce((sum, level) => sum + this.#levels[level], 0),
      issuesByLevel: { ...this.#levels },
      issuesByRule: [...this.#rules.values()].toSorted(bySeverity).slice(0, RULES_MAX),
      toolsUsed: [...this.#tools.values()],
      filesAffected: this.#files.size,
      analysisSuccessful: this.#isSuccessful,
      suppressed: this.#suppressed,
      ...(cutTools.length > 0 && { cutTools }),
    };
  }
}
