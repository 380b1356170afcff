import type { Readable } from 'node:stream';
import { ChangeListener } from '../../../domain/kernel/changes/change-listener.ts';
import { ChangeRing } from '../../../domain/kernel/changes/change-ring.ts';
import { type Change, type Notice, type Position, positionOf } from '../../../domain/kernel/changes/change-rules.ts';
import type { DatabaseAccess } from '../../../domain/kernel/data/pool.ts';
import type { Database } from '../../../domain/kernel/data/tables.ts';
import { type PresentActor, presentActors } from '../../../domain/identity/auth/present-actors.queries.ts';
import { batched } from '../../../domain/kernel/queues/batched.ts';
import { Slots } from '../../../domain/kernel/queues/slots.ts';
import type { Actor } from '../../../domain/kernel/shared/actor.ts';
import { DomainError } from '../../../domain/kernel/shared/errors.ts';
import type { Topic } from '../../../domain/kernel/changes/topic-rules.ts';
import { ChangeStream, type ResetReason, type WantedChanges } from './change-stream.ts';
import type { TopicAccess } from './topic-readers.ts';

/** Streams that a process serves, and those of one caller. */
export const STREAMS_MAX = 2_000;
export const STREAMS_PER_CALLER = 10;
/** A stream is opened anew after so long: its credential may have expired since. */
const LIFE_MS = 3_600_000;
/** How long the changes of a tenant are remembered of which nobody has a stream any more. */
const FORGOTTEN_AFTER_MS = 300_000;

export interface ChangeStreamsParts {
  access: DatabaseAccess;
  /** With the application's role, outside any tenant. */
  database: Database;
  accessTo: TopicAccess;
  api: string;
  heartbeatMs: number;
  /** How often it is looked whether callers may still be told. */
  checkEveryMs: number;
  onLost: (error: unknown) => void;
}

/** What a caller wants to be told of. */
export interface ChangesWanted {
  topics: readonly Topic[] | undefined;
  repositoryIdentifier: string | undefined;
  lastEventId: string;
}

interface Open {
  stream: ChangeStream;
  actor: Actor;
  wanted: ChangesWanted;
  until: number;
}

interface OfTenant {
  ring: ChangeRing;
  open: Set<Open>;
  unusedSince: number;
}

/** Between two queries for streams that are opened. */
const REST = { restMs: 5 };

/** No stream was ever there. */
const NOWHERE: Position = { epoch: '', n: 0 };

/** Nothing that came before can be continued. */
function interrupt(tenants: Iterable<OfTenant>, reason: ResetReason): void {
  for (const { ring, open } of tenants) {
    ring.interrupt();
    for (const { stream } of open) stream.reset(reason);
  }
}

const refused = (why: string) => new DomainError('unavailable', why, { headers: { 'Retry-After': '5' } });

/** The streams of one API process, over one listener, with one ring for each tenant that has streams. */
export class ChangeStreams {
  readonly #parts: ChangeStreamsParts;
  readonly #listener: ChangeListener;
  readonly #tenants = new Map<string, OfTenant>();
  /** Streams that are opened at the same time share a query: after a restart all come at once. */
  readonly #present = batched((actors: Actor[]) => presentActors(this.#parts.database, actors), REST);
  readonly #slots = new Slots({ works: 'streams of changes', total: STREAMS_MAX, perHolder: STREAMS_PER_CALLER });
  #isEnding = false;
  #checks: NodeJS.Timeout | undefined;

  constructor(parts: ChangeStreamsParts) {
    this.#parts = parts;
    this.#listener = new ChangeListener(parts.access, {
      notice: (notice) => this.#take(notice),
      interrupted: (isBack) => interrupt(this.#tenants.values(), isBack ? 'resumed' : 'interrupted'),
      lost: parts.onLost,
    });
  }

  /** Throws `unavailable` where the caller or the process has too many, and where the database is away. */
  async open(actor: Actor, wanted: ChangesWanted): Promise<Readable> {
    if (this.#isEnding) throw refused('This process is stopping');
    const leave = this.#slots.take(`${actor.tenantId}:${actor.type}:${actor.id}`);
    if (!leave)
      throw refused(
        `A caller has at most ${STREAMS_PER_CALLER} streams of changes in a process at a time, and a process ${STREAMS_MAX}`,
      );
    try {
      return await this.#begin(actor, wanted, leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Says goodbye to all, and opens none any more. */
  end(): void {
    this.#isEnding = true;
    clearInterval(this.#checks);
    for (const { stream } of this.#open()) stream.bye('stopping');
  }

  close = (): Promise<void> => this.#listener.close();

  #open = (): Open[] => [...this.#tenants.values()].flatMap(({ open }) => [...open]);

  #take({ changes, again }: Notice): void {
    if (again === 'all') return interrupt(this.#tenants.values(), 'too_many');
    interrupt(
      again.flatMap((tenantId) => this.#tenants.get(tenantId) ?? []),
      'too_many',
    );
    for (const [tenantId, of] of changes) {
      const tenant = this.#tenants.get(tenantId);
      tenant?.ring.add(of);
      for (const { stream } of tenant?.open ?? []) stream.wake();
    }
  }

  async #begin(actor: Actor, wanted: ChangesWanted, leave: () => void): Promise<Readable> {
    await this.#listener.listen();
    const told = this.#wantedBy(wanted, await this.#present(actor));
    if (!told) throw new DomainError('unauthenticated', 'The credential is expired or revoked');
    if (this.#isEnding) throw refused('This process is stopping');
    const { api, heartbeatMs, checkEveryMs } = this.#parts;
    const tenant = this.#tenantOf(actor.tenantId);
    const from = wanted.lastEventId === '' ? undefined : (positionOf(wanted.lastEventId) ?? NOWHERE);
    const stream = new ChangeStream({ ring: tenant.ring, from, ...told, api, heartbeatMs });
    const one: Open = { stream, actor, wanted, until: performance.now() + LIFE_MS };
    tenant.open.add(one);
    stream.readable.once('close', () => {
      leave();
      tenant.open.delete(one);
      tenant.unusedSince = performance.now();
    });
    // What cannot be told now is asked again.
    this.#checks ??= setInterval(() => void this.#check().catch(() => undefined), checkEveryMs).unref();
    return stream.readable;
  }

  #tenantOf(tenantId: string): OfTenant {
    const known = this.#tenants.get(tenantId) ?? { ring: new ChangeRing(), open: new Set(), unusedSince: 0 };
    this.#tenants.set(tenantId, known);
    return known;
  }

  /** What a caller wants of what it may read now; undefined for one that may act no longer. */
  #wantedBy(
    { topics, repositoryIdentifier }: ChangesWanted,
    present: PresentActor | undefined,
  ): WantedChanges | undefined {
    if (!present) return undefined;
    const { isTold, isToldOfAll } = this.#parts.accessTo(present);
    const named = topics && new Set<Topic>(topics);
    const isWanted = (change: Change) =>
      (named?.has(change.topic) ?? true) &&
      (repositoryIdentifier === undefined || change.repositoryIdentifier === repositoryIdentifier) &&
      isTold(change);
    return { isWanted, isToldOfAll };
  }

  /** Ends the streams of callers that may act no longer, and forgets the changes that nobody follows. */
  async #check(): Promise<void> {
    const now = performance.now();
    const all = this.#open();
    const actors = all.map(({ actor }) => actor);
    const present = actors.length === 0 ? [] : await presentActors(this.#parts.database, actors);
    for (const [place, { stream, until, wanted }] of all.entries()) {
      const told = this.#wantedBy(wanted, present[place]);
      if (!told) stream.bye('credential');
      else if (until < now) stream.bye('renew');
      else stream.want(told);
    }
    for (const [tenantId, { open, unusedSince }] of this.#tenants)
      if (open.size === 0 && unusedSince + FORGOTTEN_AFTER_MS < now) this.#tenants.delete(tenantId);
  }
}
