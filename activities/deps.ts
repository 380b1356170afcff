import type { MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { FencedReads } from '../domain/data/fenced-reads.ts';
import type { LockTurns } from '../domain/environment-locks/lock-turns.port.ts';
import type { Commands } from '../domain/flows/commands-file.ts';
import type { RunProgram } from '../domain/flows/program.port.ts';
import type { CreateBranch } from '../domain/git-hosts/branches.port.ts';
import type { FindGitHost } from '../domain/git-hosts/git-host.port.ts';
import type { GitMirrors } from '../domain/git/git-mirrors.port.ts';
import type { Actor } from '../domain/shared/actor.ts';
import type { ObjectStore } from '../domain/objects/object-store.port.ts';
import type { Encryption } from '../domain/shared/encryption.ts';
import type { UnitOfWork } from '../domain/unit-of-work.ts';
import type { WebhookSender } from '../domain/webhooks/webhook-sender.port.ts';
import type { Launch } from '../workflows/launch.ts';

/** What activities reach; made once by the composition root, by hand in a test. */
export interface Deps {
  orm: MikroORM;
  /** A unit of work in the actor's tenant. */
  actingAs: (
    actor: Actor,
    context?: { requestId?: string | undefined; traceparent?: string | undefined },
  ) => UnitOfWork;
  reads: FencedReads;
  /** Connections of the lanes' role, which sees deliveries and stored intents across tenants. */
  systemPool: pg.Pool;
  launch: Launch;
  lockTurns: LockTurns;
  encryption: Encryption;
  objects: ObjectStore;
  log: Logger;
  now: () => Date;
  sendWebhook: WebhookSender;
  /** Programs that the operator allows, by type of flow. */
  commands: Commands;
  runProgram: RunProgram;
  findGitHost: FindGitHost;
  createBranch: CreateBranch;
  webhookLogRetentionDays: number;
  gitMirrors: GitMirrors;
  /** How long the facts of a mirror count as new. */
  gitFetchEverySeconds: number;
}
