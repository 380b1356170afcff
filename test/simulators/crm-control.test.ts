import { crmControl } from './crm-org/control.ts';
import { crmSimulator } from './crm-org/simulator.ts';

test('simulated orgs are changed from outside', async () => {
  const crm = await crmSimulator();
  const control = await crmControl(crm);
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(control.url + path, {
      method,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  try {
    const org = crm.org('acme');
    const shown = JSON.parse((await send('GET', '/')).text) as { isSimulator: boolean; orgs: { authUrl: string }[] };
    expect(shown.isSimulator).toBe(true);
    expect(shown.orgs[0]?.authUrl).toBe(org.authUrl);

    await send('POST', '/latency', { ms: 7 });
    expect(crm.latencyMs).toBe(7);
    await send('POST', '/orgs/acme/limits', { DailyApiRequests: { used: 95_000 } });
    expect(org.limits.DailyApiRequests).toEqual({ max: 100_000, used: 95_000 });
    await send('PUT', '/orgs/acme/metadata/classes/A.cls', 'class A {}');
    expect(org.metadata.paths()).toEqual(['classes/A.cls']);
    await send('DELETE', '/orgs/acme/metadata/classes/A.cls');
    expect(org.metadata.paths()).toEqual([]);

    await send('POST', '/orgs/acme/faults', { kind: 'html-503', times: 2, path: '/services/data' });
    expect((await fetch(`${org.url}/services/data`)).status).toBe(503);
    await send('DELETE', '/orgs/acme/faults');
    expect((await fetch(`${org.url}/services/data`)).status).toBe(200);
    await send('POST', '/orgs/acme/sandboxes', { name: 'copying', percent: 80 });
    expect(org.copies.copy('copying')).toMatchObject({ status: 'Processing', copyProgress: 80 });
    await send('POST', '/orgs/acme/sandboxes', { name: 'copying', end: 'failed' });
    expect(org.copies.copy('copying').status).toBe('E');
    await send('POST', '/orgs/acme/revoke-approvals');
    expect(org.approvals).toEqual([]);

    expect(await send('POST', '/nonsense')).toMatchObject({ status: 400, text: expect.stringContaining('is none of') });
    expect(await send('POST', '/orgs/nobody/faults', {})).toMatchObject({
      status: 400,
      text: expect.stringContaining('no simulated org'),
    });
  } finally {
    control.close();
    await crm.close();
  }
});
