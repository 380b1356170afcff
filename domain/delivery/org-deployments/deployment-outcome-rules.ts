import type { ComponentProblem, Deployment } from '../../orgs/crm/crm-deployments.port.ts';
import type { LastChange } from '../../code/git/mirror/git-mirrors.port.ts';
import type { StepProgress } from '../org-steps/org-step-rules.ts';
import { adviceFor, isLockError } from './platform-advice-rules.ts';

/** One reason why an org did not take a deployment. */
export interface DeploymentProblem {
  kind: 'component' | 'test' | 'coverage' | 'org';
  /** `ApexClass Invoice`, `InvoiceTest.rounds`; null: the org as a whole. */
  subject: string | null;
  /** `classes/Invoice.cls:12:3`, as far as the platform says it. */
  location: string | null;
  /** In the archive, and the line there, from 1; null: the platform names none. */
  file: string | null;
  line: number | null;
  /** In the repository, and the commit that changed it last; null: not known. */
  path: string | null;
  commit: LastChange | null;
  message: string;
  /** What people do about it; null: nothing better is known. */
  advice: string | null;
}

export type DeploymentVerdict =
  | { status: 'succeeded' }
  | { status: 'cancelled'; by: string | null }
  | {
      status: 'failed';
      problems: DeploymentProblem[];
      /** Nothing but locks of the org stood against it: it may be tried again. */
      isLocked: boolean;
    };

/** `ApexClass Invoice (classes/Invoice.cls:2:1): Variable does not exist`. */
export const problemText = ({ subject, location, message, advice, commit }: DeploymentProblem): string => {
  const where = [subject, location && `(${location})`].filter(Boolean).join(' ');
  const by = commit && ` [${commit.sha.slice(0, 8)} ${commit.author}: ${commit.subject}]`;
  return `${where === '' ? '' : `${where}: `}${message}${by ?? ''}${advice === null ? '' : ` – ${advice}`}`;
};

/**
 * How a deployment that is over ended, by every part of its result. The platform may say no more than that it failed, name
 * only tests or coverage, or take a part, which is no success. A remark about coverage beside a success, as orgs make it that
 * do not enforce it, is none against it: the org has the components.
 */
export function verdictOf(deployment: Deployment): DeploymentVerdict {
  const { status, isSuccess, canceledBy, components, tests } = deployment;
  if (status === 'Canceled') return { status: 'cancelled', by: canceledBy };
  const problems = problemsOf(deployment);
  const isPlain = status === 'Succeeded' && isSuccess && components.errors === 0 && tests.errors === 0;
  if (isPlain && problems.every(({ kind }) => kind === 'coverage')) return { status: 'succeeded' };
  // A warning fails what does not ignore them.
  if (problems.length === 0) problems.push(...(deployment.details?.warnings ?? []).map(componentProblem));
  if (problems.length === 0) problems.push(orgProblem(whyUnknown(deployment), ''));
  return { status: 'failed', problems, isLocked: problems.every(({ message }) => isLockError(message)) };
}

const whyUnknown = ({ status, details }: Deployment): string =>
  details === null
    ? `The deployment ended as ${status}, and what the org says of it is more than is read: look at Deployment Status in Setup`
    : `The org says that the deployment ended as ${status}, and not why`;

function problemsOf({ error, details, status }: Deployment): DeploymentProblem[] {
  const problems: DeploymentProblem[] = [];
  if (error) problems.push(orgProblem(`${error.code}: ${error.message}`, ''));
  for (const failure of details?.failures ?? []) problems.push(componentProblem(failure));
  for (const { className, method, message, stackTrace } of details?.testFailures ?? [])
    problems.push({
      kind: 'test',
      subject: method === null ? className : `${className}.${method}`,
      location: stackTrace,
      ...placeOfTest(className, stackTrace),
      message,
      advice: adviceFor(message),
    });
  for (const { name, message } of details?.coverageWarnings ?? [])
    problems.push({ kind: 'coverage', subject: name, location: null, ...NOWHERE, message, advice: adviceFor(message) });
  if (status === 'SucceededPartial')
    problems.unshift(
      orgProblem(
        'The org took only a part of what was deployed',
        'Look at what it has now before the next deployment.',
      ),
    );
  return problems;
}

const NOWHERE = { file: null, line: null, path: null, commit: null };

/** Where a test failed: in the line of its own class that the stack names. */
function placeOfTest(className: string, stackTrace: string | null) {
  const own = stackTrace?.split('\n').find((each) => each.startsWith(`Class.${className}.`));
  const [, line] = /: line (\d{1,9})/.exec(own ?? '') ?? [];
  return { ...NOWHERE, file: `classes/${className}.cls`, line: line === undefined ? null : Number(line) };
}

const orgProblem = (message: string, advice: string): DeploymentProblem => ({
  kind: 'org',
  subject: null,
  location: null,
  ...NOWHERE,
  message,
  advice: advice === '' ? adviceFor(message) : advice,
});

export function componentProblem({
  type,
  fullName,
  fileName,
  line,
  column,
  problem,
}: ComponentProblem): DeploymentProblem {
  const place = line === null ? fileName : [fileName, line, column].filter((part) => part !== null).join(':');
  return {
    kind: 'component',
    subject: [type, fullName].filter(Boolean).join(' ') || null,
    location: place || null,
    ...NOWHERE,
    file: fileName || null,
    line,
    message: problem,
    advice: adviceFor(problem),
  };
}

/** How far a deployment is: components come first, then tests. */
export function progressOf({ components, tests, isDone, testsEnabled }: Deployment): StepProgress {
  const hasTests = testsEnabled || tests.total > 0;
  const parts = [share(components), ...(hasTests ? [share(tests)] : [])];
  const percent = isDone ? 100 : (parts.reduce((sum, part) => sum + part, 0) / parts.length) * 100;
  return {
    percent: Math.round(percent),
    counts: {
      components: components.total,
      componentsDone: components.deployed + components.errors,
      componentErrors: components.errors,
      ...(hasTests && {
        tests: tests.total,
        testsDone: tests.completed + tests.errors,
        testErrors: tests.errors,
      }),
    },
  };
}

const share = ({ total, errors, ...done }: { total: number; errors: number; deployed?: number; completed?: number }) =>
  total === 0 ? 0 : Math.min(1, ((done.deployed ?? done.completed ?? 0) + errors) / total);

/** What a deployment is at, for operators. */
export const stageOf = ({ status, stateDetail }: Deployment): string => {
  if (status === 'Pending') return 'Waiting in the org for other deployments';
  return stateDetail ?? STAGES[status] ?? status;
};
const STAGES: Readonly<Record<string, string>> = {
  InProgress: 'Deploying',
  FinalizingDeploy: 'Finalizing',
  FinalizingDeployFailed: 'Rolling back',
  Canceling: 'Being cancelled',
};

/** Seconds until an org is asked again how far something is that began so many milliseconds ago. */
export const pollSeconds = (ageMs: number): number => {
  const minutes = ageMs / 60_000;
  if (minutes < 1) return 3;
  if (minutes < 10) return 10;
  return minutes < 60 ? 30 : 60;
};
