import type { Logger } from 'pino';
import type { DownloadLinks } from '../../domain/objects/download-links.ts';
import type { ObjectStore } from '../../domain/objects/object-store.port.ts';
import type { Encryption } from '../../domain/shared/encryption.ts';
import type { CommitGraphCache } from '../../domain/git/commit-graph-cache.ts';
import type { AnalysisCache } from '../../domain/releases/analysis-cache.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import type { ActorReads } from '../../domain/data/fenced-reads.ts';
import type { DocumentStore } from '../../domain/documents/document-store.port.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import type { SignInAtHost, SignInHost } from '../../domain/auth/code-host.port.ts';
import type { IdentityProvider } from '../../domain/auth/identity-provider.port.ts';
import type { FindReviewAssignment } from '../../domain/auth/front-door-rules.ts';
import type { Sessions } from '../../domain/auth/sessions.ts';
import type { SignInThrottle } from '../../domain/auth/sign-in-throttle.ts';
import type { FindInvited } from '../../domain/invitations/invitations.queries.ts';
import type { Mailer } from '../../domain/mail/mailer.port.ts';
import type { SignIn } from '../../domain/auth/sign-in.ts';
import type { LockQueue } from '../../domain/environment-locks/lock-queue.port.ts';
import type { ReleaseEventQueue } from '../../domain/release-candidates/release-event-queue.port.ts';
import type { Commands } from '../../domain/flows/commands-file.ts';
import type { OutboundAddresses } from '../../domain/webhooks/outbound-addresses.ts';
import type { TriggerQueue } from '../../domain/webhooks/trigger-queue.port.ts';
import type { Launch } from '../../workflows/launch.ts';
import type { CookieName, Cookies } from './cookies.ts';

/** What handlers reach beside the database, by feature; made once by the composition root. */
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
    /** Absent as long as there are no review environments: then links lead to the front door. */
    findReviewAssignment?: FindReviewAssignment;
  };
  documents: DocumentStore;
  environmentLocks: LockQueue;
  flows: {
    /** Programs that the operator allows, by type of flow. */
    commands: Commands;
    /** Where operators look at a workflow; undefined when no such place is configured. */
    workflowUrl: (workflowId: string) => string | undefined;
  };
  git: { commitGraphs: CommitGraphCache };
  invitations: {
    /** Absent where no mail server is configured. */
    mail: Mailer | undefined;
    findInvited: FindInvited;
  };
  objects: { store: ObjectStore; downloads: DownloadLinks };
  releases: { eventQueue: ReleaseEventQueue; analyses: AnalysisCache };
  webhooks: {
    triggers: TriggerQueue;
    /** Which addresses webhooks may have; a name is checked again when it is resolved. */
    outbound: OutboundAddresses;
  };
}

/** The service's cookies, as a request carries them and as a reply sets them. */
export interface RequestCookies extends Pick<Cookies, 'write' | 'clear'> {
  get: (name: CookieName) => string | undefined;
}

interface BaseScope {
  adapters: Adapters;
  now: () => Date;
  log: Logger;
  requestId: string;
  /** W3C trace context to hand on to what the request causes. */
  traceparent: string | undefined;
  /** The address under which clients reach the service, without a slash at its end. */
  publicUrl: string;
  /** The request's own path and query, for links to further pages. */
  requestUrl: string;
}

/** All that a handler may touch: built for each request, by hand in a test. */
export interface Scope extends BaseScope {
  actor: Actor;
  tx: UnitOfWork;
  /** For handlers that only read and are called often: without a transaction around it. */
  reads: ActorReads;
}

/** For routes that need no credential: there is no tenant until the handler finds one. */
export interface PublicScope extends BaseScope {
  /** The text of the body as it came, for signatures over it. */
  bodyText: string;
  /** The client's address, for limits on guessing. */
  address: string;
  /** Who stands behind the credential that the request carries beside its body, if it is good now. Throws as a guarded route does for a write by cookie from elsewhere. */
  caller: () => Promise<Actor | undefined>;
  cookies: RequestCookies;
  /** Whether a page of the service itself made the request; what a cookie may do depends on it. */
  isFromOwnPage: boolean;
  actingAs: (actor: Actor) => UnitOfWork;
}
