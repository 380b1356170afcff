import type { SimulatedOrg } from '../simulators/crm-org/org.ts';
import { crmSimulator } from '../simulators/crm-org/simulator.ts';
import { testApp } from './app.ts';
import type { Json } from './client.ts';
import { endedRun } from './ended-run.ts';
import { newRepository } from './repository.ts';
import { eventually, startWorker } from './worker.ts';

const QUEUES = ['flows-v1', 'crm-v1', 'git-v1', 'approvals-v1', 'environment-locks-v1', 'system-v1'];

/**
 * A service, a repository and simulated orgs, for runs that deploy source; each `shop` is a project with an org of its own.
 * @param given further environment variables.
 */
export async function sourceRuns(given: NodeJS.ProcessEnv = {}) {
  const crm = await crmSimulator([]);
  const env = { OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_LOCAL_GIT: 'true', SERVICE_PACE: '0.01', ...given };
  const app = await testApp({ env });
  const worker = await startWorker(app, QUEUES);
  const remote = newRepository();
  const owner = app.as(app.owner);
  let made = 0;

  const register = async (org: SimulatedOrg): Promise<SimulatedOrg> => {
    await owner.post(201, '/api/auth/crm/register', { cliAuthUrl: org.authUrl });
    return org;
  };
  const shown = ({ id }: Json): Promise<Json> => owner.get(200, `/api/flows/runs/${id}`);
  const ended = (run: Json): Promise<Json> => endedRun(app, run);

  return {
    app,
    crm,
    remote,
    shown,
    ended,
    cancel: ({ id }: Json) => owner.post(200, `/api/flows/runs/${id}/cancel`),
    /** Waits until the org has begun what the last step of a run asks for. */
    begun: (run: Json) =>
      eventually(
        () => shown(run),
        ({ steps }) => typeof (steps as Json[]).at(-1)?.externalId === 'string',
      ),
    addOrg: async (name: string) => register(await crm.addOrg({ name, kind: 'sandbox' })),
    async shop() {
      made++;
      const repositoryIdentifier = `acme/shop-${made}`;
      const { id: projectId } = await owner.post(201, '/api/projects', {
        identifier: repositoryIdentifier,
        platform: 'host-a',
        remoteUrl: remote.path,
        configuration: { approvalPolicy: { skipApproval: true } },
      });
      const org = await register(await crm.addOrg({ name: `org-${made}`, kind: 'sandbox' }));
      const { deployments } = org;
      deployments.polls = { pending: 0, components: 1, tests: 1, finalizing: 0 };
      const start = (payload: object, status = 202): Promise<Json> =>
        owner.post(status, '/api/flows/run', {
          payload: { id: 'install-artifacts', repositoryIdentifier, orgUsername: org.username, ...payload },
        });
      return {
        projectId,
        repositoryIdentifier,
        org,
        deployments,
        start,
        ran: async (payload: object): Promise<Json> => ended(await start(payload)),
      };
    },
    async close() {
      await worker.stop();
      await app.close();
      await crm.close();
      remote.remove();
    },
  };
}
