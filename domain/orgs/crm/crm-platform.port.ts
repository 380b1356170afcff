import type { Answer } from '../../kernel/outbound/answer.port.ts';
import type {
  ListQuery,
  ListedComponent,
  MetadataType,
  PackageRetrieveOrder,
  RetrieveOrder,
  RetrieveStatus,
  RetrievedArchive,
} from './crm-metadata.port.ts';
import type { CrmApexTests } from './crm-apex-tests.port.ts';
import type { CrmDeployments } from './crm-deployments.port.ts';
import type { CrmPackages } from './crm-packages.port.ts';
import type { CrmRecords } from './crm-records.port.ts';
import type { CrmScratchOrgs } from './crm-scratch-orgs.port.ts';
import type { CrmSandbox, CrmSandboxInfo, SandboxChanges, SandboxCode, ScratchOrg } from './crm-sandboxes.port.ts';

/**
 * Why a call to the platform failed.
 * - `auth_failed`: the credential is refused until people act: revoked or expired token, deactivated user, blocked app,
 *   deleted org.
 * - `limited`: the org's calls are used up, or too many run at once; it passes by itself.
 * - `unreachable`: no connection, a broken one, or a failure on the platform's side (5xx).
 * - `timeout`: no complete answer in time.
 * - `refused`: the platform, or our address policy, refuses this request; trying again gives the same.
 * - `not_found`: there is no such record or resource.
 * - `malformed`: an answer that is not what the interface promises: HTML, a hostile archive, a foreign address.
 */
export type CrmFailureKind =
  | 'auth_failed'
  | 'limited'
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'not_found'
  | 'malformed';

export interface CrmFailure {
  isOk: false;
  kind: CrmFailureKind;
  /** The platform's own code (an open set: `invalid_grant`, `INVALID_SESSION_ID`), or `HTTP_503`; null without an answer. */
  code: string | null;
  /** The platform's message in at most 300 characters, or ours where it sent none. Holds no secret and no address. */
  message: string;
  /** What a person can do about it: one sentence. */
  hint: string;
}

/** Code of an answer that is larger than what is taken: asked again it would be so, too. */
export const TOO_LARGE = 'TOO_LARGE';

/** The result of a call; every failure of the platform is a value. An aborted `signal` is thrown. */
export type CrmAnswer<Value> = Answer<Value, CrmFailure>;

/** An app of the platform; the secret is empty for the platform's default app. */
export interface CrmClient {
  clientId: string;
  clientSecret: string;
}

export interface RefreshGrant extends CrmClient {
  /** Origin of the host that issued the token: that of the auth URL. */
  loginUrl: string;
  refreshToken: string;
}

export interface CodeGrant extends CrmClient {
  loginUrl: string;
  /** Works once. */
  code: string;
  /** The one that the code was asked with: `OAUTH_REDIRECT_URI`. */
  redirectUri: string;
}

export interface JwtGrant {
  /** Origin that the JWT is sent to, and its audience. */
  loginUrl: string;
  clientId: string;
  username: string;
  /** PKCS #8, PEM. */
  privateKey: string;
}

/** A token as the platform gave it. It has no expiry: a 401 is the truth. */
export interface MintedToken {
  accessToken: string;
  /** Origin of the org, without a slash at its end; checked against the address policy. */
  instanceUrl: string;
  /** Replaces the one that was used, where the reply has one. */
  refreshToken: string | null;
  /** 18 characters, from the `id` of the reply; null when it has none. */
  orgId: string | null;
  userId: string | null;
}

/** What a call to an org is made with. */
export interface CrmCredential {
  accessToken: string;
  /** Origin of the org; the token is sent nowhere else. */
  instanceUrl: string;
}

/** Calls of the last 24 hours of an org, as `Sforce-Limit-Info` has them: approximate. */
export interface ApiUsage {
  used: number;
  max: number;
}

/** How the calls to one org get their credential: the token store's side of the port. */
export interface OrgAccess {
  /** The stored token, or one that is minted now. */
  credential: () => Promise<CrmAnswer<CrmCredential>>;
  /**
   * Asked at most once per call, after the org refused the credential (401), and the call is repeated once. Gives the
   * failure when nothing can be minted. Without it a 401 is `auth_failed` at once.
   */
  renew?: (refused: CrmCredential) => Promise<CrmAnswer<CrmCredential>>;
  /** Told after each reply that says so. */
  onApiUsage?: (usage: ApiUsage) => void;
  /** Ends calls that are under way. */
  signal?: AbortSignal;
}

/** Who a credential belongs to, and in which org. */
export interface OrgIdentity {
  username: string;
  userId: string;
  /** 18 characters. */
  orgId: string;
  orgName: string;
  kind: 'production' | 'sandbox' | 'scratch';
  /** `Sandbox`, `Scratch`, else the edition: `Enterprise Edition`. */
  organizationType: string;
  edition: string;
  /** Name of the platform's servers: `EU42`. */
  instanceName: string | null;
  namespacePrefix: string | null;
  /** When a scratch org or trial ends; ISO 8601. */
  expiresAt: string | null;
}

export interface FrontDoor {
  /** On the org's own origin; opens a session: a secret. */
  url: string;
  /** `sid`: made of the session itself, where the org has no single-use front doors. */
  form: 'singleaccess' | 'sid';
}

export interface PlatformLimit {
  name: string;
  max: number;
  /** May be negative. */
  remaining: number;
}

export interface QueryOptions {
  /** Asks the Tooling interface. */
  isTooling?: boolean;
  /** Ends after so many rows; 10,000 by default. All pages together are at most 16 MiB. */
  maxRows?: number;
}

export type CrmRow = Record<string, unknown>;

export interface CrmRows {
  rows: CrmRow[];
  /** Rows that the query matches, whether or not they were fetched. */
  totalSize: number;
  /** False when `maxRows` ended the fetching. */
  isComplete: boolean;
}

/** The calls of one org. Each takes at most 20 s, a query of several pages twice that, a download 5 min. */
export interface CrmOrg extends CrmRecords, SandboxChanges, CrmDeployments, CrmPackages, CrmApexTests, CrmScratchOrgs {
  /** Three calls: user info, user, organization. */
  identity: () => Promise<CrmAnswer<OrgIdentity>>;
  isDevHub: () => Promise<CrmAnswer<boolean>>;
  /** @param path where the session begins: relative, see `isOwnPath`; another is `refused`. */
  frontDoor: (path?: string) => Promise<CrmAnswer<FrontDoor>>;
  /** Sandboxes of a production org, by name. */
  sandboxes: () => Promise<CrmAnswer<CrmSandbox[]>>;
  /** The sandbox of that name without case; null when there is none. */
  findSandbox: (name: string) => Promise<CrmAnswer<CrmSandbox | null>>;
  sandboxInfos: () => Promise<CrmAnswer<CrmSandboxInfo[]>>;
  /** `refused` with `INVALID_STATUS` while the sandbox is not ready. */
  sandboxAuth: (order: { sandboxName: string; clientId: string }) => Promise<CrmAnswer<SandboxCode>>;
  /** The scratch org of a dev hub with that username, the active one before others; null when there is none. */
  findScratchOrg: (username: string) => Promise<CrmAnswer<ScratchOrg | null>>;
  limits: () => Promise<CrmAnswer<PlatformLimit[]>>;
  /** @param soql with literals by `soqlText`. Pages are followed on the org's own origin only. */
  query: (soql: string, options?: QueryOptions) => Promise<CrmAnswer<CrmRows>>;
  describeMetadata: () => Promise<CrmAnswer<MetadataType[]>>;
  /** @param queries one to three; a bad type fails all of them. */
  listMetadata: (queries: readonly ListQuery[]) => Promise<CrmAnswer<ListedComponent[]>>;
  /** The id to ask after. At most 10,000 files, 39 MB packed, 600 MB unpacked. */
  startRetrieve: (order: RetrieveOrder | PackageRetrieveOrder) => Promise<CrmAnswer<{ retrieveId: string }>>;
  /** Does not fetch the archive, which the platform deletes once it was fetched. */
  retrieveStatus: (retrieveId: string) => Promise<CrmAnswer<RetrieveStatus>>;
  /**
   * Fetches the archive of a succeeded retrieve, to a file that is gone afterwards. The platform deletes its own copy:
   * a download that fails needs a new retrieve.
   * @param consume reads the entries; what it throws is thrown.
   */
  download: <Result>(
    retrieveId: string,
    consume: (archive: RetrievedArchive) => Promise<Result>,
  ) => Promise<CrmAnswer<Result>>;
}

/** The CRM platform. Used by the API in a request, and by workers; never inside a unit of work. */
export interface CrmPlatform {
  /** A new access token by a refresh token. */
  refresh: (grant: RefreshGrant) => Promise<CrmAnswer<MintedToken>>;
  /** Spends a code. Each exchange makes an approval, of which the platform keeps five per user and app. */
  exchangeCode: (grant: CodeGrant) => Promise<CrmAnswer<MintedToken>>;
  /** By JWT bearer (RFC 7523); never gives a refresh token. */
  mintByJwt: (grant: JwtGrant) => Promise<CrmAnswer<MintedToken>>;
  /** Revokes a refresh token with its access tokens, or one access token. One that is unknown counts as revoked. */
  revoke: (order: { loginUrl: string; token: string }) => Promise<CrmAnswer<null>>;
  /** The newest version of an org that the service speaks: `66.0`. Needs no credential; kept for a day. */
  apiVersion: (instanceUrl: string) => Promise<CrmAnswer<string>>;
  /** Calls nothing yet. */
  org: (access: OrgAccess) => CrmOrg;
}
