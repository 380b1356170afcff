import type { Logger } from 'pino';
import type { DownloadLinks } from '../../domain/kernel/objects/download-links.ts';
import type { ObjectStore } from '../../domain/kernel/objects/object-store.port.ts';
import type { Encryption } from '../../domain/kernel/encryption/encryption.ts';
import type { CommitGraphCache } from '../../domain/code/git/graph/commit-graph-cache.ts';
import type { HostTokens } from '../../domain/review/browser-sessions/hosts/host-tokens.ts';
import type { FindLiveAccess } from '../../domain/review/browser-sessions/live/live-access.ts';
import type { LiveLinkTokens } from '../../domain/review/browser-sessions/live/live-link-tokens.ts';
import type { Recordings } from '../../domain/review/browser-sessions/recordings/replays.mutations.ts';
import type { OrgPolls } from '../../domain/orgs/org-limits/org-polls.ts';
import type { DashboardCache } from '../../domain/orgs/org-limits/limit-dashboard.ts';
import type { TextCache } from '../../domain/kernel/caches/cache-memory.ts';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import type { ActorReads } from '../../domain/kernel/data/fenced-reads.ts';
import type { FindEnvironmentStates } from '../../domain/delivery/releases/environment-states.ts';
import type { DeploymentLogCache } from '../../domain/delivery/deployments/deployment-log-cache.ts';
import type { FindChatSenders } from '../../domain/people/chat/chat-actions.queries.ts';
import type { ChatPlatform } from '../../domain/people/chat/chat-platform.port.ts';
import type { OrgScope } from '../../domain/orgs/crm-orgs/org-scope.ts';
import type { DocumentStore } from '../../domain/documents/document-store.port.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import type { SignInAtHost, SignInHost } from '../../domain/identity/auth/code-host.port.ts';
import type { IdentityProvider } from '../../domain/identity/auth/identity-provider.port.ts';
import type { FindReviewAssignment } from '../../domain/identity/auth/front-door-rules.ts';
import type { Sessions } from '../../domain/identity/auth/sessions.ts';
import type { SignInThrottle } from '../../domain/identity/auth/sign-in-throttle.ts';
import type { OwnInvitations } from '../../domain/identity/invitations/acceptance.mutations.ts';
import type { FindInvited } from '../../domain/identity/invitations/invitations.queries.ts';
import type { AskMetrics } from '../../domain/insight/metrics/ask-metrics.ts';
import type { IngestMetrics } from '../../domain/insight/metrics/ingest.mutations.ts';
import type { Mailer } from '../../domain/kernel/mail/mailer.port.ts';
import type { SignIn } from '../../domain/identity/auth/sign-in.ts';
import type { LockQueue } from '../../domain/delivery/environment-locks/lock-queue.port.ts';
import type { ReleaseEventQueue } from '../../domain/delivery/release-candidates/release-event-queue.port.ts';
import type { Commands } from '../../domain/delivery/flows/programs/commands-file.ts';
import type { RemotePolicy } from '../../domain/projects/remotes/remote-policy.ts';
import type { RuleCache } from '../../domain/review/review-rules/rule-cache.ts';
import type { OutboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import type { HostAddresses } from '../../domain/mocks/serving/own-mocks.ts';
import type { DeliveryQueue } from '../../domain/events/webhooks/delivery-queue.port.ts';
import type { FindWorkTracker } from '../../domain/work/work-items/work-tracker.port.ts';
import type { Launch } from '../../workflows/launch.ts';
import type { RateLimit } from './rate-limit.ts';
import type { SocketSlots } from './sockets/socket-slots.ts';
import type { CookieName, Cookies } from './cookies.ts';

/** Dependencies of handlers other than the database, by feature; created once by the composition root. */
export interface Adapters {
  launch: Launch;
  encryption: Encryption;
  auth: {
    signIn: SignIn;
    signInThrottle: SignInThrottle;
    sessions: Sessions;
    signInHosts: Record<SignInHost, SignInAtHost>;
    /** Absent when no OpenID provider is configured. */
    identityProvider?: IdentityProvider;
    findReviewAssignment: FindReviewAssignment;
  };
  browsers: {
    recordings: Recordings;
    /** How long a reference in a playlist is valid at least. */
    replayLinkHours: number;
    /** Local ones that are provisioning or live at the same time. */
    sessionsPerTenant: number;
    hostTokens: HostTokens;
    liveLinkTokens: LiveLinkTokens;
    findLiveAccess: FindLiveAccess;
    /** Which the sockets of this process have, too. */
    socketSlots: SocketSlots;
  };
  chat: {
    platform: ChatPlatform;
    /** Root of its interface. */
    apiUrl: string;
    findSenders: FindChatSenders;
  };
  crm: OrgScope['crm'];
  documents: DocumentStore;
  environmentLocks: LockQueue;
  environments: { stateOf: FindEnvironmentStates };
  flows: {
    /** Commands that the operator has configured, by flow type. */
    commands: Commands;
    /** Address of a workflow in the Temporal UI; undefined if none is configured. */
    workflowUrl: (workflowId: string) => string | undefined;
  };
  git: {
    commitGraphs: CommitGraphCache;
    /** The remotes that projects may have. */
    remotes: RemotePolicy;
  };
  hooks: { limit: RateLimit };
  /** The addresses that hosts of integrations may have. */
  hosts: HostAddresses;
  invitations: {
    /** Undefined if no mail server is configured. */
    mail: Mailer | undefined;
    findInvited: FindInvited;
    own: OwnInvitations;
  };
  metrics: {
    intake: IngestMetrics;
    /** There is something for the store. */
    signalLane: () => void;
    ask: AskMetrics;
  };
  /** The addresses that mock scenarios may record, and the one at which they answer, without a slash at its end. */
  mocks: { upstreams: OutboundAddresses; url: string };
  orgLimits: { polls: OrgPolls; dashboards: DashboardCache };
  objects: { store: ObjectStore; downloads: DownloadLinks };
  releases: { eventQueue: ReleaseEventQueue; analyses: TextCache; deploymentLogs: DeploymentLogCache };
  reviewRules: RuleCache;
  webhooks: {
    queue: DeliveryQueue;
    /** The addresses that webhooks may have; host names are checked again after resolution. */
    outbound: OutboundAddresses;
  };
  workItems: { findTracker: FindWorkTracker };
}

/** Reads the cookies of a request and makes those of a reply. */
export interface RequestCookies extends Pick<Cookies, 'write' | 'clear'> {
  get: (name: CookieName) => string | undefined;
}

interface BaseScope {
  adapters: Adapters;
  now: () => Date;
  log: Logger;
  requestId: string;
  /** W3C trace context to propagate. */
  traceparent: string | undefined;
  /** Base URL of the service for clients, without a trailing slash. */
  publicUrl: string;
  /** Path and query of the request, for links to other pages. */
  requestUrl: string;
}

/** Everything that a handler may use; created per request. */
export interface Scope extends BaseScope {
  actor: Actor;
  tx: UnitOfWork;
  /** The request has an `Idempotency-Key`: a transaction of its own says that it is done. */
  isKeyed: boolean;
  /** Undoes what `tx` began in an earlier transaction: a repeat with the same `Idempotency-Key` is handled again. */
  undo: UnitOfWork;
  /** Aborts when the client leaves before it has the whole answer; made when it is asked for. */
  gone: () => AbortSignal;
  /** Reads without a transaction, for handlers that only read. */
  reads: ActorReads;
}

/** The scope of routes without a credential: there is no tenant until the handler determines one. */
export interface PublicScope extends BaseScope {
  /** The unparsed body, to verify signatures. */
  bodyBytes: Uint8Array;
  /** What limits count the client by: its IPv4 address, or the /64 of its IPv6 address. */
  address: string;
  /** The sender by header or cookie, if the credential is valid. Throws `forbidden` for a cross-site write with the cookie. */
  caller: () => Promise<Actor | undefined>;
  cookies: RequestCookies;
  /** Whether a page of this service made the request; writes with a cookie require it. */
  isFromOwnPage: boolean;
  actingAs: (actor: Actor) => UnitOfWork;
}
