import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { anyFreePort } from '../tools/ports.ts';
import { type Service, startService } from './service.ts';
import type { Load, LoadResult } from './webhooks-load.ts';
import type { Receipts } from './webhooks-receiver.ts';

/** The service, a receiver and a load generator, each part as a process of its own. */
export interface Stage {
  tenantId: string;
  database: pg.Client;
  /** An address of the receiver. */
  receiverUrl: (path: string) => string;
  /** An address where nothing listens. */
  refusingUrl: string;
  addWebhook: (event: string, url: string) => Promise<string>;
  setInactive: (webhookId: string) => Promise<void>;
  generate: (load: Pick<Load, 'requests' | 'count' | 'perSecond'>) => Promise<LoadResult>;
  measureCpu: Service['measureCpu'];
  /** Answers what was received since the last time, and begins anew. */
  forget: () => Promise<Receipts>;
  /** Waits until so many deliveries have come, or `seconds` have passed without. */
  arrived: (count: number, seconds: number) => Promise<void>;
  stop: () => Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const service = await startService(['webhooks-v1', 'system-v1']);
  const { tenantId, database, token, url: apiUrl } = service;
  const [receiverPort, refusingPort] = [await anyFreePort(), await anyFreePort()];
  const receiver = await service.start('./webhooks-receiver.ts', [String(receiverPort)]);
  const load = await service.start('./webhooks-load.ts');
  return {
    tenantId,
    database,
    receiverUrl: (path) => `http://127.0.0.1:${receiverPort}${path}`,
    refusingUrl: `http://127.0.0.1:${refusingPort}/`,
    async addWebhook(event, url) {
      const { id } = await service.call<{ id: string }>('POST', '/api/webhooks', {
        name: event,
        event,
        config: { url },
      });
      return id;
    },
    async setInactive(id) {
      await service.call('PATCH', `/api/webhooks/${id}`, { status: 'inactive' });
    },
    generate: (requests) => ask<LoadResult>(load, { apiUrl, token, ...requests }),
    measureCpu: service.measureCpu,
    forget: () => ask<Receipts>(receiver, 'forget'),
    async arrived(count, seconds) {
      for (const giveUpAt = Date.now() + seconds * 1_000; Date.now() < giveUpAt; await sleep(50)) {
        if ((await ask<number>(receiver, 'count')) >= count) return;
      }
    },
    stop: service.stop,
  };
}

async function ask<Reply>(child: ChildProcess, message: object | string): Promise<Reply> {
  const reply = once(child, 'message');
  child.send(message);
  return (await reply)[0] as Reply;
}
