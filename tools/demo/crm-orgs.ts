import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';
import { OperatorError } from '../operator-error.ts';
import type { DemoClient } from './client.ts';
import { hasCrmSimulator, startCrmSimulator } from './crm-simulator.ts';
import { classFiles, KEPT, publishManifest, showLedger } from './gc-ledger.ts';
import { showExplorer } from './org-explorer.ts';
import { LIMIT_EVENT, showLimits, USED_AT_FIRST } from './org-limits.ts';
import type { DemoReceiver } from './receiver.ts';

type Say = (text: string) => void;

interface Org {
  username: string;
  organizationType: string;
  authType: string;
  isDevHub: boolean;
  health: { status: string };
}
interface Sandbox {
  name: string;
  state: string;
  copyProgress: number;
  username: string | null;
}

const COPYING = 'copying';

/**
 * Shows the service with CRM orgs, which a simulator on this machine plays: a production and a sandbox, their limits,
 * what changes in them, and the way of a dropped component. The orgs are removed at the end, as the simulator ends; the project stays.
 * @param suffix of the names of the project and the orgs.
 */
export async function showOrgs(
  api: DemoClient,
  { url, suffix }: { url: string; suffix: string },
  receiver: DemoReceiver,
  say: Say,
): Promise<void> {
  if (!isLoopbackHost(new URL(url).hostname)) {
    say('CRM orgs are not shown: they would be simulated on this machine, which the service is not on');
    return;
  }
  if (!hasCrmSimulator()) {
    say('CRM orgs are not shown: their simulator is part of the repository, not of the image');
    return;
  }
  const crm = await startCrmSimulator(suffix);
  const registered: string[] = [];
  try {
    const [production, sandbox] = [crm.org('acme'), crm.org('acme-uat')];
    say('CRM orgs: a simulator of them was started on this machine; no org is real');
    const repositoryIdentifier = `demo/harbour-orgs-${suffix}`;
    const dropped = `LegacyTariff_${suffix}`;
    await api.post('/api/projects', { identifier: repositoryIdentifier, platform: 'host-a', defaultBranch: 'main' });
    for (const [orchestrationOrder, environment] of [
      { name: 'uat', category: 'test', orgUsername: sandbox.username },
      { name: 'production', category: 'release', orgUsername: production.username },
    ].entries())
      await api.post('/api/environments', { repositoryIdentifier, orchestrationOrder, branch: 'main', ...environment });
    await subscribe(api, production.username, receiver);
    await crm.setLimit(production, 'DailyApiRequests', USED_AT_FIRST);
    for (const org of [production, sandbox])
      for (const [path, content] of classFiles(dropped)) await crm.writeFile(org, path, content, 'Ada Admin');

    try {
      registered.push(
        await register(api, '/api/auth/crm/register', { cliAuthUrl: production.authUrl, isDevHub: true }, say),
      );
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      say(`  not shown, as the service does not reach the simulator: ${error.message}`);
      return;
    }
    const ofProduction = { productionUsername: production.username };
    const bySandboxName = '/api/auth/crm/register-sandbox-by-name';
    registered.push(await register(api, bySandboxName, { sandboxName: 'uat', ...ofProduction }, say));
    const refusal = await api.refusal(bySandboxName, { sandboxName: COPYING, ...ofProduction });
    say(`  the sandbox ${COPYING}: ${refusal ?? 'registered, although it is still being copied'}`);
    await saySandboxes(api, production.username, say);

    await showLimits(api, { crm, org: production, repositoryIdentifier }, receiver, say);
    await publishManifest(api, repositoryIdentifier, { members: [KEPT, dropped] });
    const place = { crm, production, sandbox, repositoryIdentifier, dropped };
    await showExplorer(api, place, say);
    await showLedger(api, place, say);
  } finally {
    for (const username of registered.toReversed())
      await api.delete(`/api/auth/crm/org?${new URLSearchParams({ username })}`);
    await crm.close();
  }
  say('  the simulator is stopped, and its orgs are removed');
}

async function subscribe(api: DemoClient, orgUsername: string, receiver: DemoReceiver): Promise<void> {
  const { secret } = await api.post('/api/webhooks', {
    name: `demo ${LIMIT_EVENT}`,
    event: LIMIT_EVENT,
    provider: 'http',
    config: { url: `${receiver.url}/${LIMIT_EVENT}`, filter: { 'data.orgUsername': orgUsername } },
  });
  receiver.trust(LIMIT_EVENT, secret as string);
}

async function register(api: DemoClient, path: string, body: Record<string, unknown>, say: Say): Promise<string> {
  const { username, organizationType, authType, isDevHub, health } = (await api.post(path, body)) as unknown as Org;
  const how = authType === 'jit' ? 'access just in time by its production' : 'by its auth URL';
  say(`  registered ${username}: ${organizationType}${isDevHub ? ', dev hub' : ''}, ${how}, ${health.status}`);
  return username;
}

async function saySandboxes(api: DemoClient, productionUsername: string, say: Say): Promise<void> {
  const sandboxes = (await api.get(
    `/api/auth/crm/sandboxes?${new URLSearchParams({ productionUsername })}`,
  )) as unknown as Sandbox[];
  const shown = sandboxes.map(
    ({ name, state, copyProgress, username }) =>
      `${name} ${state}${state === 'ready' ? '' : ` (${copyProgress} per cent)`}${username === null ? '' : `, registered`}`,
  );
  say(`  sandboxes of ${productionUsername}: ${shown.join('; ')}`);
}
