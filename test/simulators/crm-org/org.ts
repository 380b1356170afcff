import { randomBytes, randomInt } from 'node:crypto';
import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import type { Fault, FaultKind, FaultRule } from './faults.ts';
import { OrgApexTests } from './apex-tests.ts';
import { MetadataStore } from './metadata-store.ts';
import { OrgDeployments } from './deployments.ts';
import { OrgPackages } from './packages.ts';
import { OrgPeople } from './people.ts';
import { OrgSandboxes } from './sandboxes.ts';
import { OrgScratchOrgs } from './scratch-orgs.ts';
import type { SoqlTable } from './soql.ts';

export interface OrgOptions {
  /** Unique; first part of usernames. */
  name: string;
  kind: 'production' | 'sandbox' | 'scratch';
  username?: string;
  edition?: string;
  isDevHub?: boolean;
  /** Production of a sandbox, or dev hub of a scratch org, by name. */
  parent?: string;
  /** Name in the production org of a sandbox; the org's name by default. */
  sandboxName?: string;
  /** Status of a sandbox; `Completed` by default. */
  status?: string;
  copyProgress?: number;
  /** False: its parent has its row already. */
  isListed?: boolean;
  /** What the row of a scratch org in its dev hub has. `dead`: an auth URL whose token was revoked. */
  authUrl?: 'present' | 'missing' | 'dead';
  /** A folder whose files are the org's metadata. */
  metadataFolder?: string;
}

export interface SandboxRow {
  id: string;
  infoId: string;
  name: string;
  status: string;
  /** Null where the platform does not say it. */
  copyProgress: number | null;
  /** 15 characters; null before there is one. */
  orgId: string | null;
  createdAt: Date;
  endedAt: Date | null;
  /** False for one that somebody else made: this user gets no code for it. */
  isOwn: boolean;
  /** Copied, and still no code is given for it. */
  isAuthDelayed?: boolean;
}

export interface ScratchRow {
  id: string;
  orgId: string;
  username: string;
  loginUrl: string;
  status: string;
  expiresAt: Date;
  createdAt: Date;
  authUrl: string | null;
}

export interface RetrieveJob {
  id: string;
  members: { name: string; members: string[] }[];
  /** A package that is retrieved by its name. */
  packageName: string | null;
  /** So many status calls are still answered with InProgress. */
  pollsLeft: number;
  isFetched: boolean;
}

interface Approval {
  clientId: string;
  refreshToken: string;
}

/** The platform keeps so many refresh tokens per user and app; one more revokes the oldest. */
const APPROVALS_KEPT = 5;
export const DEFAULT_CLIENT = 'PlatformCLI';

let made = 0;
/** Orgs of two simulators have different ids, as those of the platform have: the service knows an org by its id. */
const ORIGIN = randomInt(36 ** 4)
  .toString(36)
  .padStart(4, '0');
/** An id with the prefix of its kind: 15 characters, as rows hold it. */
export const newId = (prefix: string): string =>
  `${prefix}5g${ORIGIN}${(++made).toString(36).padStart(6, '0')}`.slice(0, 15);
const jwtPart = (bytes: number): string => randomBytes(bytes).toString('base64url');
const token = (bytes = 40): string => randomBytes(bytes).toString('base64url').replaceAll('-', '.');

/** One simulated org: everything that tests may look at and change. */
export class SimulatedOrg {
  readonly name: string;
  readonly kind: OrgOptions['kind'];
  readonly edition: string;
  readonly url: string;
  readonly userId = longId(newId('005'));
  readonly metadata = new MetadataStore();
  readonly parent: SimulatedOrg | undefined;
  /** Its users and what they may do. */
  readonly people: OrgPeople;
  /** How its sandboxes are made, copied and deleted. */
  readonly copies = new OrgSandboxes(this);
  /** The scratch orgs that it makes as a dev hub. */
  readonly scratch = new OrgScratchOrgs(this);
  /** What is deployed to it, and how that goes. */
  readonly deployments: OrgDeployments;
  /** What it has installed, and can install. */
  readonly packages = new OrgPackages(this);
  /** Its Apex tests, and how they run. */
  readonly apexTests = new OrgApexTests(this);
  username: string;
  /** 18 characters. */
  orgId = longId(newId('00D'));
  isDevHub: boolean;
  isUserActive = true;
  isAppInstalled = true;
  /** False: a production of an edition without sandboxes. */
  hasSandboxes = true;
  /** False: `singleaccess` is 404, as in orgs of old releases. */
  hasFrontDoors = true;
  /** A refresh gives a new refresh token, and the old one is dead. */
  rotatesTokens = false;
  /** Access tokens are JWTs, which the Metadata interface refuses below version 68.0. */
  hasJwtTokens = false;
  /** What token replies say instead of the org's own address. */
  claimedUrl: string | undefined;
  /** Where front doors lead instead of to the org. */
  frontDoorUrl: string | undefined;
  /** Field of the dev hub for auth URLs; undefined: it has none. */
  authField: string | undefined = 'SfdxAuthUrl__c';
  namespacePrefix: string | null = null;
  expiresAt: Date | null;
  versions = ['58.0', '60.0', '64.0', '66.0', '67.0'];
  pageSize = 2_000;
  latencyMs: number | undefined;
  readonly #holds = new Set<{ path: RegExp; released: Promise<void> }>();
  /** Status calls of a retrieve that are answered with InProgress. */
  /**
   * Outbound change sets by name: `retrieve` gives one as a package of that name, with what its components are today
   * (salesforce.stackexchange.com 114909). Unconfirmed: what it answers for a name that it has not.
   */
  readonly outboundSets = new Map<string, { name: string; members: string[] }[]>();
  retrievePolls = 1;
  maxFiles = 10_000;
  /** Retrieves of components with such names end as failed. */
  unretrievable: RegExp | undefined;
  /** Types whose listing is refused. */
  readonly unlistable = new Set<string>();
  /** Types that the org does not have. */
  readonly absentTypes = new Set<string>();
  /** `listMetadata` does not say which type a component has. */
  listsWithoutTypes = false;
  /** By name; `used` may pass `max`. */
  limits: Record<string, { max: number; used: number }>;
  sandboxes: SandboxRow[] = [];
  scratchOrgs: ScratchRow[] = [];
  /** Further tables for queries. */
  readonly tables = new Map<string, SoqlTable>();
  readonly approvals: Approval[] = [];
  readonly sessions = new Map<string, { clientId: string }>();
  readonly codes = new Map<string, { clientId: string; redirectUri: string }>();
  readonly doors = new Map<string, string>();
  /** Paths of pages to which doors led. */
  readonly opened = new Set<string>();
  readonly queries = new Map<string, { isTooling: boolean; rows: unknown[] }>();
  readonly retrieves = new Map<string, RetrieveJob>();
  /** Public keys of apps that may mint tokens by JWT, in PEM, by client id. */
  readonly jwtApps = new Map<string, string>();
  readonly #faults: FaultRule[] = [];
  readonly #secrets: Set<string>;
  readonly #firstToken: string;

  constructor(options: OrgOptions, url: string, parent: SimulatedOrg | undefined, secrets: Set<string>) {
    const { name, kind, edition = 'Enterprise Edition', isDevHub = false, metadataFolder } = options;
    const sandboxName = options.sandboxName ?? name;
    this.name = name;
    this.kind = kind;
    this.edition = edition;
    this.url = url;
    this.parent = parent;
    this.isDevHub = isDevHub;
    this.#secrets = secrets;
    const ownName = kind === 'scratch' ? `test-${name}@example.com` : `admin@${name}.example`;
    this.username =
      options.username ?? (kind === 'sandbox' && parent ? `${parent.username}.${sandboxName.toLowerCase()}` : ownName);
    this.people = new OrgPeople(this);
    this.deployments = new OrgDeployments(this);
    this.expiresAt = kind === 'scratch' ? new Date(Date.now() + 20 * 86_400_000) : null;
    this.limits = usualLimits(kind);
    this.#firstToken = this.approve();
    if (metadataFolder !== undefined) this.metadata.serveFolder(metadataFolder);
  }

  /** An auth URL by which the org can be registered; always the same. */
  get authUrl(): string {
    return this.authUrlOf(this.#firstToken);
  }

  authUrlOf(refreshToken: string, clientId = DEFAULT_CLIENT): string {
    return this.#secret(`force://${clientId}::${refreshToken}@${new URL(this.url).host}`);
  }

  /** A new refresh token, as a sign-in of a person makes one. */
  approve(clientId = DEFAULT_CLIENT): string {
    const refreshToken = this.#secret(`5Aep${token()}`);
    this.approvals.push({ clientId, refreshToken });
    const own = this.approvals.filter((approval) => approval.clientId === clientId);
    if (own.length > APPROVALS_KEPT && own[0]) this.approvals.splice(this.approvals.indexOf(own[0]), 1);
    return refreshToken;
  }

  /** Ends all sessions: the next call with their tokens is answered with 401. */
  endSessions(): void {
    this.sessions.clear();
  }

  /** Refresh tokens and sessions are dead from now on. */
  revokeApprovals(): void {
    this.approvals.length = 0;
    this.endSessions();
  }

  startSession(clientId: string): string {
    const form = this.hasJwtTokens ? [12, 60, 20].map(jwtPart).join('.') : `${this.orgId.slice(0, 15)}!AQE${token(60)}`;
    const accessToken = this.#secret(form);
    this.sessions.set(accessToken, { clientId });
    return accessToken;
  }

  /** A code that works once. */
  newCode(clientId: string, redirectUri: string): string {
    const code = this.#secret(`aPrx${token()}`);
    this.codes.set(code, { clientId, redirectUri });
    return code;
  }

  /** A front door that opens once. */
  newDoor(path: string): string {
    const key = token(30);
    this.doors.set(key, path);
    return this.#secret(`${this.frontDoorUrl ?? this.url}/secur/frontdoor.jsp?otp=${key}`);
  }

  /**
   * From now on the org fails.
   * @param times how often; once by default.
   * @param path only for requests whose path it matches.
   * @param operation only for this one of the Metadata interface.
   */
  /** Keeps the answers to requests that come from now on, until the function that it returns is called. */
  hold(path = /^/): () => void {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const held = { path, released };
    this.#holds.add(held);
    return () => {
      this.#holds.delete(held);
      resolve();
    };
  }

  /** Resolves when no answer to that path is kept any more. */
  async untilReleased(path: string): Promise<void> {
    for (const held of this.#holds) if (held.path.test(path)) await held.released;
  }

  fail(
    fault: Exclude<FaultKind, 'zip' | 'reply'> | Fault,
    { times = 1, path = /^/, operation }: { times?: number; path?: RegExp; operation?: string } = {},
  ): void {
    this.#faults.push({ fault: typeof fault === 'string' ? { kind: fault } : fault, times, path, operation });
  }

  /** Asked before and after each request is done: true: the connection breaks off then. */
  breaksOff: (path: string) => Promise<boolean> = () => Promise.resolve(false);

  heal(): void {
    this.#faults.length = 0;
  }

  takeFault(path: string, operation: string | undefined): Fault | undefined {
    const index = this.#faults.findIndex(
      (rule) => rule.path.test(path) && (rule.operation === undefined || rule.operation === operation),
    );
    const rule = this.#faults[index];
    if (!rule) return undefined;
    rule.times--;
    if (rule.times <= 0) this.#faults.splice(index, 1);
    return rule.fault;
  }

  /** Another org id, and nothing that was given before works. */
  becomeNew(): void {
    this.orgId = longId(newId('00D'));
    this.revokeApprovals();
  }

  /** A sandbox that is made anew at once. */
  refresh(): void {
    this.becomeNew();
    const row = this.parent?.sandboxes.find(({ name }) => this.username.endsWith(`.${name.toLowerCase()}`));
    if (!row || !this.parent) return;
    const now = new Date();
    this.parent.sandboxes.push({
      ...row,
      id: newId('0GR'),
      orgId: this.orgId.slice(0, 15),
      createdAt: now,
      endedAt: now,
    });
  }

  #secret(text: string): string {
    this.#secrets.add(text);
    return text;
  }
}

const usualLimits = (kind: OrgOptions['kind']): SimulatedOrg['limits'] => ({
  DailyApiRequests: { max: kind === 'production' ? 100_000 : 15_000, used: 18 },
  DailyAsyncApexExecutions: { max: 250_000, used: 120 },
  DailyBulkApiBatches: { max: 15_000, used: 0 },
  DailyBulkV2QueryJobs: { max: 10_000, used: 2 },
  DailyGenericStreamingApiEvents: { max: 10_000, used: 0 },
  DailyWorkflowEmails: { max: 1_000, used: 5 },
  DailyScratchOrgs: { max: kind === 'production' ? 80 : 0, used: kind === 'production' ? 12 : 0 },
  ActiveScratchOrgs: { max: kind === 'production' ? 40 : 0, used: kind === 'production' ? 3 : 0 },
  DataStorageMB: { max: 10_240, used: 4_100 },
  FileStorageMB: { max: 20_480, used: 5_000 },
  HourlyTimeBasedWorkflow: { max: 1_000, used: 0 },
  HourlyPublishedPlatformEvents: { max: 50_000, used: 40 },
  PermissionSets: { max: 1_500, used: 64 },
  SingleEmail: { max: 5_000, used: 0 },
});
