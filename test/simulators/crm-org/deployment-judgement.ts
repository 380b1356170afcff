import type { NamedComponent } from './deployed-components.ts';
import type { OrgDeployments, SimulatedDeployment } from './deployments.ts';
import type { SimulatedOrg } from './org.ts';

export interface Problem extends NamedComponent {
  fileName: string;
  line: number | null;
  problem: string;
  problemType: 'Error' | 'Warning';
}

interface RunMethod {
  className: string;
  method: string;
  failure: { message: string; stackTrace: string } | null;
}

/** What becomes of a deployment, known from its beginning. */
export interface Judged {
  isSuccess: boolean;
  error: { errorStatusCode: string; errorMessage: string } | null;
  problems: Problem[];
  /** Components without an error, in the order of the manifest. */
  taken: NamedComponent[];
  changed: ReadonlySet<NamedComponent>;
  created: ReadonlySet<NamedComponent>;
  tests: RunMethod[];
  testsRun: number;
  coverageWarnings: { name: string; message: string }[];
}

/** Judges the archive of a deployment by what the org has, and by what tests said of it. */
export function judge(org: SimulatedOrg, deployments: OrgDeployments, deployment: SimulatedDeployment): Judged {
  const { components: store } = deployments;
  const error = deployments.failures.shift() ?? null;
  const problems = error ? [] : problemsOf(deployments, deployment);
  const refused = new Set(
    problems.filter(({ problemType }) => problemType === 'Error').map(({ type, fullName }) => `${type}:${fullName}`),
  );
  const taken = error ? [] : deployment.components.filter(({ type, fullName }) => !refused.has(`${type}:${fullName}`));
  const tests = refused.size > 0 || error ? [] : testsOf(org, deployments, deployment);
  const failed = tests.filter(({ failure }) => failure !== null);
  const coverageWarnings = tests.length > 0 && failed.length === 0 ? uncovered(deployments, deployment) : [];
  const isWarned = problems.length > refused.size && deployment.options.ignoreWarnings === false;
  return {
    isSuccess: !error && refused.size === 0 && failed.length === 0 && coverageWarnings.length === 0 && !isWarned,
    error,
    problems,
    taken,
    changed: new Set(taken.filter((each) => store.isChanged(each, deployment.files))),
    created: new Set(taken.filter((each) => !store.has(each))),
    tests,
    testsRun: tests.length,
    coverageWarnings,
  };
}

function problemsOf(deployments: OrgDeployments, { files, components, deletions }: SimulatedDeployment): Problem[] {
  const found: Problem[] = [];
  for (const component of components) {
    const own = deployments.components.filesOf(component, files);
    const about = { ...component, line: null };
    if (own.length === 0)
      found.push({
        ...about,
        fileName: 'package.xml',
        problem: `An object '${component.fullName}' of type ${component.type} was named in package.xml, but was not found in zipped directory`,
        problemType: 'Error',
      });
    for (const fileName of own) {
      const text = files.contents.get(fileName)?.toString('utf8') ?? '';
      for (const { pattern, problem, problemType = 'Error' } of deployments.problems) {
        const at = text.search(pattern);
        if (at < 0) continue;
        found.push({ ...component, fileName, line: text.slice(0, at).split('\n').length, problem, problemType });
      }
    }
  }
  for (const component of deletions) {
    if (deployments.components.has(component)) continue;
    const problem = `No ${component.type} named: ${component.fullName} found`;
    found.push({ ...component, fileName: 'destructiveChanges.xml', line: null, problem, problemType: 'Warning' });
  }
  return found;
}

/** The methods that a deployment runs. */
function testsOf(org: SimulatedOrg, deployments: OrgDeployments, deployment: SimulatedDeployment): RunMethod[] {
  const { options, files, components, isQuick } = deployment;
  const hasApex = components.some(({ type }) => type === 'ApexClass' || type === 'ApexTrigger');
  const level = options.testLevel ?? (org.kind === 'production' && hasApex ? 'RunLocalTests' : 'NoTestRun');
  if (level === 'NoTestRun' || isQuick) return [];
  const arriving = new Map(
    [...files.contents]
      .filter(([path]) => /^classes\/.*\.cls$/.test(path))
      .map(([path, content]) => [path.slice('classes/'.length, -'.cls'.length), content.toString('utf8')]),
  );
  const own = new Set([
    ...deployments.components.testClasses(),
    ...[...arriving].filter(([, text]) => /@istest\b/i.test(text)).map(([name]) => name),
  ]);
  const names = level === 'RunSpecifiedTests' ? (options.runTests ?? []) : [...own];
  return names.flatMap((className) => {
    const source = arriving.get(className) ?? sourceOf(org, className);
    return methodsOf(source).map((method) => runMethod(deployments, { className, method, source }));
  });
}

export const sourceOf = (org: SimulatedOrg, className: string): string =>
  org.metadata.byName('ApexClass').get(className)?.newest.content.toString('utf8') ?? '';

/** Methods of a test class; one that its text shows none of has a single one. */
export function methodsOf(source: string): string[] {
  const found = [...source.matchAll(/(?:@istest\s[^{]*?|testmethod\s[^{]*?)\bvoid\s+(\w+)\s*\(/gi)].map(
    ([, name = '']) => name,
  );
  return found.length > 0 ? found : ['test'];
}

/** Lines of a method that end so fail when it runs. */
const FAILS = /\/\/ simulated: fails$/;

/** What becomes of a method, by what was said of it, else by its source. */
export function runMethod(
  deployments: OrgDeployments,
  { className, method, source }: { className: string; method: string; source: string },
): RunMethod {
  const name = `${className}.${method}`;
  const failing = deployments.failingTests.get(name) ?? failureIn(source, method);
  if (!failing) return { className, method, failure: null };
  if (failing.times !== undefined && --failing.times <= 0) deployments.failingTests.delete(name);
  const { message, line = 3 } = failing;
  return { className, method, failure: { message, stackTrace: `Class.${name}: line ${line}, column 1` } };
}

function failureIn(source: string, method: string): { message: string; line: number; times?: number } | undefined {
  const lines = source.split('\n');
  const from = lines.findIndex((text) => new RegExp(`\\bvoid\\s+${method}\\s*\\(`).test(text));
  const next = lines.findIndex((text, at) => at > from && /@istest/i.test(text));
  const at = lines.findIndex((text, index) => index > from && (next < 0 || index < next) && FAILS.test(text));
  return from < 0 || at < 0
    ? undefined
    : { message: 'System.AssertException: Assertion Failed: the line says so', line: at + 1 };
}

/** The average of the org counts, but for specified tests, where it is that of each class (75 %). */
function uncovered(deployments: OrgDeployments, { options, components }: SimulatedDeployment) {
  const own = components.filter(({ type }) => type === 'ApexClass' || type === 'ApexTrigger');
  const poor = own.flatMap(({ fullName }) => {
    const { lines, uncovered: bare } = deployments.coverage.get(fullName) ?? { lines: 0, uncovered: 0 };
    return lines > 0 && (lines - bare) / lines < 0.75
      ? [{ fullName, percent: Math.floor(((lines - bare) / lines) * 100) }]
      : [];
  });
  if (options.testLevel === 'RunSpecifiedTests')
    return poor.map(({ fullName, percent }) => ({
      name: fullName,
      message: `Test coverage of selected Apex Class is ${percent}%, at least 75% test coverage is required`,
    }));
  const all = [...deployments.coverage.values()];
  const lines = all.reduce((sum, each) => sum + each.lines, 0);
  const bare = all.reduce((sum, each) => sum + each.uncovered, 0);
  if (lines === 0 || (lines - bare) / lines >= 0.75) return [];
  const percent = Math.floor(((lines - bare) / lines) * 100);
  return [
    {
      name: '',
      message: `Average test coverage across all Apex Classes and Triggers is ${percent}%, at least 75% test coverage is required.`,
    },
  ];
}
