import { modelControl } from './models/control.ts';
import { modelSimulator } from './models/simulator.ts';

test('simulated models are listed and made to fail from outside', async () => {
  const models = await modelSimulator();
  const control = await modelControl(models);
  const act = async (method: string, path: string, body?: object) => {
    const response = await fetch(control.url + path, { method, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: await response.text() };
  };
  const ask = (key = models.apiKey) =>
    fetch(`${models.baseUrlOf('openai')}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gpt', stream: true, messages: [{ role: 'user', content: 'About F1' }] }),
    });
  try {
    expect((await ask('wrong')).status).toBe(401);
    await act('POST', '/next', { kind: 'limited', retryAfter: 7 });
    const limited = await ask();
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await (await ask()).text()).toMatch(/"content":"[^]*data: \[DONE\]\n\n$/);
    const { body } = await act('GET', '/');
    expect(JSON.parse(body)).toMatchObject({ isSimulator: true, requests: [{ model: 'gpt' }, { provider: 'openai' }] });
    await act('POST', '/always', { kind: 'html' });
    expect((await ask()).headers.get('content-type')).toBe('text/html');
    await act('DELETE', '/');
    expect(models.requests).toEqual([]);
    for (const kind of ['nothing', undefined]) expect((await act('POST', '/next', { kind })).status).toBe(400);
    expect((await act('POST', '/nowhere', {})).status).toBe(400);
  } finally {
    control.close();
    await models.close();
  }
});
