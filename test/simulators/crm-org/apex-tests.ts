import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { apexTables, idOfApex } from './apex-sources.ts';
import { methodsOf, runMethod, sourceOf } from './deployment-judgement.ts';
import { newId, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError } from './replies.ts';
import type { SoqlRow, SoqlTable } from './soql.ts';

interface Method {
  id: string;
  className: string;
  method: string;
  outcome: string;
  message: string | null;
  stackTrace: string | null;
}

interface TestJob {
  /** 18 characters, 707…. */
  id: string;
  status: string;
  polls: number;
  createdAt: Date;
  createdBy: string;
  methods: Method[];
  items: { id: string; className: string; status: string }[];
}

const time = (date: Date): string => date.toISOString().replace('Z', '+0000');
const table = (fields: string, rows: () => SoqlRow[]): SoqlTable => ({ fields: fields.split(' '), rows });

/**
 * Apex tests of an org, as the Tooling interface has them: `runTestsAsynchronous`, ApexTestQueueItem, ApexTestRunResult and
 * ApexTestResult (developer.salesforce.com, Tooling API; asyncTests.ts of forcedotcom/salesforcedx-apex).
 * What its tests do is said by `deployments.failingTests`; with such a class, its methods are those of its source.
 */
export class OrgApexTests {
  readonly #org: SimulatedOrg;
  readonly jobs: TestJob[] = [];
  readonly suites = new Map<string, string[]>();
  /** Which classes and triggers a test class covered when it ran last. */
  readonly covers = new Map<string, string[]>();
  /** Status calls until a job is done. */
  polls = 2;

  constructor(org: SimulatedOrg) {
    this.#org = org;
  }

  /** A test class whose methods pass. */
  addClass(name: string, methods: readonly string[]): void {
    const body = methods.map((method) => `  @isTest static void ${method}() {}`).join('\n');
    this.#org.metadata.write(`classes/${name}.cls`, `@isTest\nclass ${name} {\n${body}\n}\n`);
  }

  /** Undefined for other resources. */
  rest(method: string, resource: string, body: string): Reply | undefined {
    if (resource !== '/tooling/runTestsAsynchronous' || method !== 'POST') return undefined;
    const asked = JSON.parse(body) as Record<string, unknown>;
    const selected = this.#selected(asked);
    if (selected.length === 0) return restError(400, 'INVALID_INPUT', "This class name's value is invalid: no tests");
    const job: TestJob = {
      id: longId(newId('707')),
      status: 'Queued',
      polls: 0,
      createdAt: new Date(),
      createdBy: this.#org.userId,
      methods: [],
      items: selected.map(({ className }) => ({ id: longId(newId('709')), className, status: 'Queued' })),
    };
    for (const { className, methods } of selected)
      for (const name of methods) {
        const { failure } = runMethod(this.#org.deployments, {
          className,
          method: name,
          source: sourceOf(this.#org, className),
        });
        job.methods.push({
          id: longId(newId('07M')),
          className,
          method: name,
          outcome: failure ? 'Fail' : 'Pass',
          message: failure?.message ?? null,
          stackTrace: failure?.stackTrace ?? null,
        });
      }
    this.jobs.push(job);
    return json(200, job.id);
  }

  /** A change of an ApexTestQueueItem by `composite/sobjects`. */
  abort({ Id: id, Status: status }: Record<string, unknown>): object {
    for (const job of this.jobs) {
      const item = job.items.find((each) => each.id.slice(0, 15) === String(id).slice(0, 15));
      if (!item || status !== 'Aborted') continue;
      item.status = 'Aborted';
      if (job.items.every((each) => each.status === 'Aborted')) job.status = 'Aborted';
      return { id: item.id, success: true, errors: [] };
    }
    return {
      success: false,
      errors: [{ statusCode: 'INVALID_CROSS_REFERENCE_KEY', message: 'invalid cross reference id', fields: [] }],
    };
  }

  tables(): Record<string, SoqlTable> {
    return {
      ApexTestRunResult: table(
        'Id AsyncApexJobId UserId Status CreatedDate StartTime EndTime ClassesCompleted ClassesEnqueued MethodsEnqueued MethodsCompleted MethodsFailed TestTime TestSetupTime',
        () => this.jobs.map((job) => this.#runRow(job)),
      ),
      ApexTestQueueItem: table('Id ParentJobId Status TestRunResultId ApexClassId ApexClass.Name', () =>
        this.jobs.flatMap((job) =>
          job.items.map(({ id, className, status }) => ({
            Id: id,
            ParentJobId: job.id,
            Status: status,
            TestRunResultId: job.id.replace('707', '05m'),
            ApexClassId: idOfApex(this.#org, 'ApexClass', className),
            'ApexClass.Name': className,
          })),
        ),
      ),
      ApexTestResult: table(
        'Id AsyncApexJobId QueueItemId Outcome MethodName Message StackTrace RunTime TestTimestamp ApexLogId IsTestSetup ApexClass.Id ApexClass.Name ApexClass.NamespacePrefix',
        () =>
          this.jobs.flatMap((job) =>
            job.status !== 'Completed'
              ? []
              : job.methods.map(({ id, className, method, outcome, message, stackTrace }) => ({
                  Id: id,
                  AsyncApexJobId: job.id,
                  QueueItemId: job.items.find((item) => item.className === className)?.id ?? null,
                  TestTimestamp: time(job.createdAt),
                  ApexLogId: null,
                  IsTestSetup: false,
                  'ApexClass.Id': idOfApex(this.#org, 'ApexClass', className),
                  Outcome: outcome,
                  MethodName: method,
                  Message: message,
                  StackTrace: stackTrace,
                  RunTime: 12,
                  'ApexClass.Name': className,
                  'ApexClass.NamespacePrefix': null,
                })),
          ),
      ),
      ...apexTables(this.#org, this.covers),
    };
  }

  /** Each look takes a job a step on. */
  #runRow(job: TestJob): SoqlRow {
    if (job.status === 'Queued' || job.status === 'Processing') {
      job.status = job.polls++ < this.polls ? 'Processing' : 'Completed';
      if (job.status === 'Completed') for (const item of job.items) item.status = 'Completed';
    }
    const isDone = job.status === 'Completed';
    return {
      Id: job.id.replace('707', '05m'),
      AsyncApexJobId: job.id,
      UserId: job.createdBy,
      Status: job.status,
      CreatedDate: time(job.createdAt),
      StartTime: time(job.createdAt),
      EndTime: isDone ? time(job.createdAt) : null,
      ClassesCompleted: isDone ? job.items.length : 0,
      ClassesEnqueued: job.items.length,
      MethodsEnqueued: job.methods.length,
      MethodsCompleted: isDone ? job.methods.length : 0,
      MethodsFailed: isDone ? job.methods.filter(({ outcome }) => outcome !== 'Pass').length : 0,
      TestTime: isDone ? job.methods.length * 12 : null,
      TestSetupTime: 0,
    };
  }

  #selected(asked: Record<string, unknown>): { className: string; methods: string[] }[] {
    const all = (names: readonly string[]) =>
      names.map((className) => ({ className, methods: methodsOf(sourceOf(this.#org, className)) }));
    if (Array.isArray(asked.tests))
      return (asked.tests as { className: string; testMethods?: string[] }[]).map(({ className, testMethods }) => ({
        className,
        methods: testMethods ?? methodsOf(sourceOf(this.#org, className)),
      }));
    if (asked.testLevel !== 'RunSpecifiedTests') return all(this.#testClasses());
    const names = (member: unknown) => (typeof member === 'string' ? member.split(',') : []);
    return all([
      ...names(asked.classNames).filter((name) => this.#testClasses().includes(name)),
      ...names(asked.suiteNames).flatMap((name) => this.suites.get(name) ?? []),
    ]);
  }

  #testClasses(): string[] {
    return [...this.#org.metadata.byName('ApexClass').keys()].filter((name) =>
      /@istest\b/i.test(sourceOf(this.#org, name)),
    );
  }
}
