import type { Logger } from 'pino';
import type { CommitGraphCache } from '../../domain/code/git/graph/commit-graph-cache.ts';
import type { DocumentStore } from '../../domain/documents/document-store.port.ts';
import type { DeliveryQueue } from '../../domain/events/webhooks/delivery-queue.port.ts';
import type { AskMetrics } from '../../domain/insight/metrics/ask-metrics.ts';
import type { IngestMetrics } from '../../domain/insight/metrics/ingest.mutations.ts';
import type { ActorReads } from '../../domain/kernel/data/fenced-reads.ts';
import type { Encryption } from '../../domain/kernel/encryption/encryption.ts';
import type { DownloadLinks } from '../../domain/kernel/objects/download-links.ts';
import type { ObjectStore } from '../../domain/kernel/objects/object-store.port.ts';
import type { OutboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import type { Actor } from '../../domain/kernel/shared/actor.ts';
import type { HostAddresses } from '../../domain/mocks/serving/own-mocks.ts';
import type { FindChatSenders } from '../../domain/people/chat/chat-actions.queries.ts';
import type { ChatPlatform } from '../../domain/people/chat/chat-platform.port.ts';
import type { RemotePolicy } from '../../domain/projects/remotes/remote-policy.ts';
import type { UnitOfWork } from '../../domain/unit-of-work.ts';
import type { FindWorkTracker } from '../../domain/work/work-items/work-tracker.port.ts';
import type { Launch } from '../../workflows/launch.ts';
import type { CookieName, Cookies } from './cookies.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * Dependencies of handlers other than the database; created once by the composition root. Areas add theirs in their
 * `parts.ts`.
 */
export interface Adapters {
  launch: Launch;
  encryption: Encryption;
  /** The addresses that hosts of integrations may have. */
  hosts: HostAddresses;
  objects: { store: ObjectStore; downloads: DownloadLinks };
  webhooks: {
    queue: DeliveryQueue;
    /** The addresses that webhooks may have; host names are checked again after resolution. */
    outbound: OutboundAddresses;
  };
  documents: DocumentStore;
  git: {
    commitGraphs: CommitGraphCache;
    /** The remotes that projects may have. */
    remotes: RemotePolicy;
  };
  workItems: { findTracker: FindWorkTracker };
  hooks: { limit: RateLimit };
  chat: {
    platform: ChatPlatform;
    /** Root of its interface. */
    apiUrl: string;
    findSenders: FindChatSenders;
  };
  metrics: {
    intake: IngestMetrics;
    /** There is something for the store. */
    signalLane: () => void;
    ask: AskMetrics;
  };
}

/** Reads the cookies of a request and makes those of a reply. */
export interface RequestCookies extends Pick<Cookies, 'write' | 'clear'> {
  get: (name: CookieName) => string | undefined;
}

export interface BaseScope {
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
