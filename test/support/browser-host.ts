import { type Logger, pino } from 'pino';
import { type BrowserHost, runBrowserHost } from '../../activities/browser-host/browser-host.ts';
import { parseHostConfig } from '../../domain/kernel/settings/host-config.ts';
import { Outages } from '../../domain/kernel/system/outages.ts';
import { hostEnvironment } from '../../tools/host-environment.ts';
import type { CrmSimulator } from '../simulators/crm-org/simulator.ts';
import type { TestApp } from './app.ts';
import { sessionStage } from './browser-sessions.ts';
import './temporal-core.ts';

/** A host of real browsers, in the process of the test. */
export function startRealHost(
  app: TestApp,
  settings: Record<string, string> = {},
  log: Logger = pino({ level: 'silent' }),
): Promise<BrowserHost> {
  const config = parseHostConfig({ ...hostEnvironment(app.env), BROWSER_SPARES: '0', ...settings });
  return runBrowserHost({ config, log, outages: new Outages(log) });
}

/** The stage of browser sessions, whose pull requests have simulated orgs that open their front doors. */
export async function orgStage(app: TestApp, crm: CrmSimulator) {
  const stage = await sessionStage(app);
  let made = 0;
  return {
    ...stage,
    /** A pull request with an org of its own. */
    async pullRequestWithOrg() {
      const name = `session-org-${++made}`;
      const org = await crm.addOrg({ name, kind: 'scratch', parent: 'acme' });
      const { username, authUrl: cliAuthUrl } = org;
      await app.as(app.application).post(201, `${stage.path}/instances`, { username, cliAuthUrl });
      const prNumber = 5_000 + made;
      await stage.assign({ assignmentId: String(prNumber) });
      return { prNumber, org };
    },
  };
}
