import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { type Archive, archiveOf, EMPTY, multipart } from './deploy-archives.ts';
import { DeployedComponents, type NamedComponent } from './deployed-components.ts';
import { type Judged, judge } from './deployment-judgement.ts';
import { type DeployResult, resultOf } from './deployment-results.ts';
import { newId, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError, type SimulatedRequest } from './replies.ts';
import type { SoqlTable } from './soql.ts';

export interface DeployOptions {
  checkOnly?: boolean;
  testLevel?: string;
  runTests?: string[];
  rollbackOnError?: boolean;
  ignoreWarnings?: boolean;
  singlePackage?: boolean;
}

export interface SimulatedDeployment extends Archive {
  /** 18 characters, 0Af…. */
  id: string;
  options: DeployOptions;
  status: string;
  isDone: boolean;
  /** Id of the user: the service's own, or somebody else's. */
  createdBy: string;
  createdAt: Date;
  completedAt: Date | null;
  canceledByName: string | null;
  /** Status calls since its turn came. */
  polls: number;
  isQuick: boolean;
  /** Somebody else's that stays under way until it is released. */
  isHeld: boolean;
  judged: Judged | null;
}

const SOMEBODY = '005000000000001AAA';
const FIELDS =
  'Id Status CheckOnly CreatedById CreatedDate StartDate CompletedDate ErrorMessage ErrorStatusCode NumberComponentsTotal';
const VALID_MS = 10 * 86_400_000;
const time = (date: Date): string => date.toISOString().replace('Z', '+0000');

/**
 * Deployments of an org, as `metadata/deployRequest` has them (developer.salesforce.com, "Deploying with the REST API" and its
 * resources for status, cancellation and recently validated components). The metadata interface over SOAP gives the same.
 */
export class OrgDeployments {
  readonly #org: SimulatedOrg;
  readonly all: SimulatedDeployment[] = [];
  readonly components: DeployedComponents;
  /** What was committed, in order. */
  readonly ledger: { id: string; components: string[]; deletions: string[] }[] = [];
  /** Status calls for each part of a deployment whose turn has come. */
  polls = { pending: 1, components: 1, tests: 1, finalizing: 0 };
  /** A component whose content has such a place is refused there; `Warning`: taken with a remark. */
  problems: { pattern: RegExp; problem: string; problemType?: 'Error' | 'Warning' }[] = [];
  /** Methods that fail, by `Class.method`; so often, for ever without `times`. */
  readonly failingTests = new Map<string, { message: string; line?: number; times?: number }>();
  /** Lines of classes; all covered where nothing is said. */
  readonly coverage = new Map<string, { lines: number; uncovered: number; uncoveredLines?: number[] }>();
  /** The next deployments end with these, with no failure of a component. */
  failures: { errorStatusCode: string; errorMessage: string }[] = [];
  /** When somebody changed the org by hand: validations from before are void. */
  changedAt: Date | null = null;

  constructor(org: SimulatedOrg) {
    this.#org = org;
    this.components = new DeployedComponents(org.metadata);
  }

  /** A deployment of somebody else's is under way until the function that it returns is called. */
  occupy(): () => void {
    const other = this.#add(EMPTY, { createdBy: SOMEBODY, isHeld: true, status: 'InProgress' });
    return () => {
      other.isHeld = false;
      this.#end(other, 'Succeeded');
    };
  }

  cancelBySomebody(id: string): void {
    const found = this.find(id);
    if (!found) throw new Error(`no deployment ${id}`);
    found.canceledByName = 'Grace Admin';
    this.#end(found, 'Canceled');
  }

  find(id: string): SimulatedDeployment | undefined {
    return this.all.find((each) => each.id.slice(0, 15) === id.slice(0, 15));
  }

  tables(): Record<string, SoqlTable> {
    const rows = () =>
      this.all.map((each) => ({
        Id: each.id,
        Status: each.status,
        CheckOnly: each.options.checkOnly === true,
        CreatedById: each.createdBy,
        CreatedDate: time(each.createdAt),
        StartDate: each.polls > 0 ? time(each.createdAt) : null,
        CompletedDate: each.completedAt && time(each.completedAt),
        ErrorMessage: each.judged?.error?.errorMessage ?? null,
        ErrorStatusCode: each.judged?.error?.errorStatusCode ?? null,
        NumberComponentsTotal: each.components.length + each.deletions.length,
      }));
    return { DeployRequest: { fields: FIELDS.split(' '), rows } };
  }

  /** The REST interface; undefined for other resources. */
  rest(resource: string, { method, query, body, bytes, contentType }: SimulatedRequest): Reply | undefined {
    const [, id] = /^\/metadata\/deployRequest(?:\/(\w+))?$/.exec(resource) ?? [undefined, null];
    if (id === null) return undefined;
    if (id === undefined) {
      if (method !== 'POST') return restError(405, 'METHOD_NOT_ALLOWED', 'HTTP Method not allowed');
      const made = contentType.startsWith('multipart/')
        ? this.#start(multipart(bytes, contentType))
        : this.quick(String((JSON.parse(body) as Record<string, unknown>).validatedDeployRequestId));
      return 'status' in made && 'body' in made ? made : json(201, { id: made.id, ...this.#shown(made, false) });
    }
    const found = this.find(id);
    if (!found) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
    if (method === 'PATCH') {
      const refusal = this.cancel(found);
      return refusal === undefined
        ? json(202, { id: found.id, ...this.#shown(found, false) })
        : restError(400, refusal.code, refusal.message);
    }
    this.advance();
    return json(200, { id: found.id, ...this.#shown(found, query.get('includeDetails') === 'true') });
  }

  /** Accepts an archive; a reply where it is refused. */
  start(zip: Buffer, options: DeployOptions): SimulatedDeployment | Reply {
    let archive: Archive;
    try {
      archive = archiveOf(zip);
    } catch {
      return restError(400, 'INVALID_FIELD', 'Error: the zip file could not be read');
    }
    return this.#add(archive, { options });
  }

  /** Quick deploy: a validation with tests, of the last ten days, and nothing was changed since. Codes of refusals: unconfirmed. */
  quick(validationId: string): SimulatedDeployment | Reply {
    const from = this.find(validationId);
    const since = from?.completedAt?.getTime() ?? 0;
    const isVoid =
      (this.changedAt?.getTime() ?? 0) > since ||
      this.all.some((each) => each !== from && !each.options.checkOnly && (each.completedAt?.getTime() ?? 0) > since);
    const isGood =
      from?.options.checkOnly === true &&
      from.status === 'Succeeded' &&
      (from.judged?.testsRun ?? 0) > 0 &&
      Date.now() - since < VALID_MS;
    if (!from || !isGood || isVoid)
      return restError(
        400,
        'INVALID_ID_FIELD',
        `Invalid deploy ID ${validationId}: it has no validation that can be deployed`,
      );
    const { files, components, deletions } = from;
    const options = { ...from.options, checkOnly: false, testLevel: 'NoTestRun', runTests: [] };
    return this.#add({ files, components, deletions }, { options, isQuick: true });
  }

  /** Undefined: it is, or will be, cancelled. */
  cancel(found: SimulatedDeployment): { code: string; message: string } | undefined {
    if (found.isDone || found.status.startsWith('Finalizing'))
      return { code: 'INVALID_ID_FIELD', message: 'Deployment already completed or is being finalized' };
    if (found.status === 'Pending') {
      found.canceledByName = 'Own User';
      this.#end(found, 'Canceled');
    } else found.status = 'Canceling';
    return undefined;
  }

  /** One deployment at a time goes on with each status call; the others stay Pending in order. */
  advance(): void {
    const head = this.all.find(({ isDone }) => !isDone);
    if (!head || head.isHeld) return;
    if (head.status === 'Canceling') {
      head.canceledByName = 'Own User';
      this.#end(head, 'Canceled');
      return;
    }
    const { pending, components, tests, finalizing } = this.polls;
    const judged = (head.judged ??= judge(this.#org, this, head));
    const hasTests = judged.tests.length > 0;
    const polls = head.polls++;
    const ends = pending + components + (hasTests ? tests : 0);
    if (polls < pending) return;
    if (polls < ends) head.status = 'InProgress';
    else if (polls < ends + finalizing) head.status = 'FinalizingDeploy';
    else this.#settle(head, judged);
  }

  result(found: SimulatedDeployment, includesDetails: boolean): DeployResult {
    const { pending, components } = this.polls;
    return resultOf(this.#org, found, { includesDetails, isTesting: found.polls > pending + components });
  }

  #start({ options, file }: { options: unknown; file: Buffer | undefined }): SimulatedDeployment | Reply {
    const { deployOptions } = (options ?? {}) as { deployOptions?: DeployOptions };
    if (!file || !deployOptions) return restError(400, 'MISSING_ARGUMENT', 'entity_content and file are required');
    if (this.#org.kind === 'production' && deployOptions.rollbackOnError !== true)
      return restError(400, 'INVALID_OPERATION', 'rollbackOnError must be true in production');
    return this.start(file, deployOptions);
  }

  #shown(found: SimulatedDeployment, includesDetails: boolean) {
    return {
      validatedDeployRequestId: null,
      deployResult: this.result(found, includesDetails),
      deployOptions: found.options,
    };
  }

  #settle(deployment: SimulatedDeployment, judged: Judged): void {
    const keepsParts = deployment.options.rollbackOnError === false && !judged.error;
    const isPartial = !judged.isSuccess && keepsParts && judged.taken.length > 0;
    const isTaken = (judged.isSuccess || isPartial) && !deployment.options.checkOnly;
    this.#end(deployment, judged.isSuccess ? 'Succeeded' : isPartial ? 'SucceededPartial' : 'Failed');
    if (!isTaken) return;
    const names = (list: NamedComponent[]) => list.map(({ type, fullName }) => `${type}:${fullName}`);
    for (const each of judged.taken) this.components.add(each, deployment.files);
    const deletions = deployment.deletions.filter((each) => this.components.remove(each));
    this.ledger.push({ id: deployment.id, components: names(judged.taken), deletions: names(deletions) });
  }

  #end(deployment: SimulatedDeployment, status: string): void {
    deployment.status = status;
    deployment.isDone = true;
    deployment.completedAt = new Date();
  }

  #add(archive: Archive, more: Partial<SimulatedDeployment>): SimulatedDeployment {
    const deployment: SimulatedDeployment = {
      id: longId(newId('0Af')),
      options: {},
      ...archive,
      status: 'Pending',
      isDone: false,
      createdBy: this.#org.userId,
      createdAt: new Date(),
      completedAt: null,
      canceledByName: null,
      polls: 0,
      isQuick: false,
      isHeld: false,
      judged: null,
      ...more,
    };
    this.all.push(deployment);
    return deployment;
  }
}
