import { setTimeout as sleep } from 'node:timers/promises';
import { crmSimulator } from '../test/simulators/crm-org/simulator.ts';
import { type Service, startService } from './service.ts';

interface Session {
  id: string;
  status: string;
  statusDetail: string | null;
  isolation: string;
  recording: { state: string };
}

/** The service with a simulator of CRM orgs, where browsers are allocated once a host is started. */
export interface SessionsStage {
  service: Service;
  /** Allocates a browser at a review org of its own; `ms` until it was live. Throws when it fails. */
  record: () => Promise<{ id: string; isolation: string; ms: number }>;
  /** Answers the milliseconds until its recording could be played. Throws when it never can. */
  stop: (id: string) => Promise<number>;
  close: () => Promise<void>;
}

export async function sessionsStage(): Promise<SessionsStage> {
  const [service, crm] = await Promise.all([
    startService(['environment-locks-v1', 'crm-v1', 'flows-v1', 'system-v1']),
    crmSimulator(),
  ]);
  const repositoryIdentifier = 'acme/bench';
  await service.call('POST', '/api/projects', { identifier: repositoryIdentifier, platform: 'host-a' });
  const pool = await service.call<{ id: string }>('POST', '/api/review/pools', {
    repositoryIdentifier,
    tag: 'bench',
    type: 'SCRATCH_ORG',
    maxInstances: 200,
  });
  let prNumber = 0;
  const newPullRequest = async () => {
    const org = await crm.addOrg({ name: `bench-${++prNumber}`, kind: 'scratch', parent: 'acme' });
    const { username, authUrl: cliAuthUrl } = org;
    await service.callAs(service.token, 'POST', `/api/review/pools/${pool.id}/instances`, { username, cliAuthUrl });
    await service.callAs(service.token, 'POST', '/api/review/assignments', {
      repositoryIdentifier,
      assignmentType: 'pr',
      assignmentId: String(prNumber),
      poolTag: 'bench',
    });
    return prNumber;
  };
  const until = async (id: string, isThere: (session: Session) => boolean): Promise<Session> => {
    for (;;) {
      const session = await service.call<Session>('GET', `/api/browser-sessions/${id}`);
      if (isThere(session)) return session;
      if (session.status === 'error') throw new Error(`the session failed: ${session.statusDetail}`);
      await sleep(15);
    }
  };
  return {
    service,
    async record() {
      const body = { repositoryIdentifier, prNumber: await newPullRequest() };
      const startedAt = performance.now();
      const { id } = await service.call<Session>('POST', '/api/browser-sessions/record-for-pr', body);
      const { isolation } = await until(id, ({ status }) => status === 'live');
      return { id, isolation, ms: performance.now() - startedAt };
    },
    async stop(id) {
      const startedAt = performance.now();
      await service.call('POST', `/api/browser-sessions/${id}/stop`);
      await until(id, ({ recording: { state } }) => {
        if (state === 'none' || state === 'partial') throw new Error(`the recording became ${state}`);
        return state === 'ready';
      });
      return performance.now() - startedAt;
    },
    async close() {
      await Promise.all([service.stop(), crm.close()]);
    },
  };
}
