import { parseArgs } from 'node:util';
import { crmSimulator } from '../test/simulators/crm-org/simulator.ts';
import { Figures, quantile } from './figures.ts';
import type { HttpLoad } from './http-load.ts';
import { generate, unexpected } from './load.ts';
import { startService } from './service.ts';

/**
 * Measures over HTTP the list of 1,000 orgs, access tokens that are stored, and 100 callers at once of an org whose token
 * has to be minted; the simulated platform answers after 100 ms. Options: `--rounds 3`, `--calls 500` per round.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, calls: { type: 'string', default: '500' } },
});
const ORGS = 1_000;
const AT_ONCE = 100;

const crm = await crmSimulator([{ name: 'acme', kind: 'production' }]);
const service = await startService([]);
try {
  const acme = crm.org('acme');
  await service.call('POST', '/api/auth/crm/register', { cliAuthUrl: acme.authUrl });
  await service.database.query(
    `insert into crm_org (id, tenant_id, username, kind, instance_url, platform_org_id, organization_type, metadata)
     select uuidv7(), $1, 'user-' || n || '@bench.example', 'sandbox', 'https://bench-' || n || '.my.crm.example.com',
       '00D' || lpad(n::text, 15, '0'), 'Sandbox', jsonb_build_object('team', 'team-' || n % 10)
     from generate_series(2, $2::int) n`,
    [service.tenantId, ORGS],
  );
  await service.database.query('analyze crm_org, crm_token');
  crm.latencyMs = 100;

  const generator = await service.start('./http-load.ts');
  const load = (requests: HttpLoad['requests'], count: number, connections = 1) =>
    generate(generator, { url: service.url, token: service.token, connections, requests, count });
  const list: HttpLoad['requests'] = [{ method: 'GET', path: '/api/auth/crm/orgs' }];
  const token: HttpLoad['requests'] = [
    { method: 'POST', path: `/api/auth/crm/access-token?${new URLSearchParams({ username: acme.username })}` },
  ];
  const refreshes = () => crm.requests.filter(({ path }) => path === '/services/oauth2/token').length;
  await load(list, 50);
  await load(token, 200, 20);

  const calls = Number(options.calls);
  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    const lists = Math.ceil(calls / 5);
    let cpu = service.measureCpu();
    const listed = await load(list, lists);
    figures.noteCpu('1,000 orgs listed', cpu(), lists);
    figures.note('1,000 orgs listed: p50', quantile(listed.latenciesMs, 0.5));
    figures.note('1,000 orgs listed: p95', quantile(listed.latenciesMs, 0.95), 'ms', '<= 30');
    cpu = service.measureCpu();
    const stored = await load(token, calls);
    figures.noteCpu('stored access token', cpu(), calls);
    figures.note('stored access token: p50', quantile(stored.latenciesMs, 0.5), 'ms', '<= 6');
    figures.note('stored access token: p95', quantile(stored.latenciesMs, 0.95), 'ms', '<= 20');
    await service.database.query('update crm_token set minted_at = null');
    const before = refreshes();
    const cold = await load(token, AT_ONCE, AT_ONCE);
    figures.note(
      '100 callers of one cold org: the last is served after',
      quantile(cold.latenciesMs, 1),
      'ms',
      '<= 300',
    );
    figures.note('100 callers of one cold org: refreshes', refreshes() - before, '', '1');
    const failed = [listed, stored, cold].reduce((sum, result) => sum + unexpected(result, 200), 0);
    figures.note('other answers than 200', failed, '', '0');
  }
  figures.print();
} finally {
  await service.stop();
  await crm.close();
}
