import { readImport } from '../../../../domain/mocks/formats/read-import.ts';

const standInKey = Buffer.from('key');
const stays = new AbortController().signal;
const read = (given: Parameters<typeof readImport>[1], tenantId = 'a', signal = stays) =>
  readImport(tenantId, given, signal);
const order = { standInKey, content: '{"log": {"entries": []}}', format: 'har' as const };

describe('reading a document in a thread of its own', () => {
  it('gives the steps of several, one after another', async () => {
    const format = 'wiremock' as const;
    const content = '{"request": {"url": "/a"}, "response": {}}';
    const all = await Promise.all([read(order), read({ ...order, format, content })]);
    expect(all.map(({ steps }) => steps.length)).toEqual([0, 1]);
  });

  it('refuses what it cannot read, and goes on', async () => {
    await expect(read({ ...order, content: '{' })).rejects.toThrow('The archive is not JSON');
    await expect(read({ ...order, format: 'yaml', content: 'a: &a\nb: *a' })).rejects.toThrow('Aliases are not taken');
    await expect(read(order)).resolves.toMatchObject({ steps: [] });
  });

  it('reads for one tenant at a time, lets few wait, and reads for others meanwhile', async () => {
    const own = Array.from({ length: 4 }, () => read(order));
    await expect(read(order)).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(read(order, 'b')).resolves.toMatchObject({ steps: [] });
    await expect(Promise.all(own)).resolves.toHaveLength(4);
  });

  it('reads nothing any more for who has left, whether it waited or was being read', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const [running, waiting] = [read(order, 'a', first.signal), read(order, 'a', second.signal)];
    second.abort(new Error('left while it waited'));
    await expect(waiting).rejects.toThrow('left while it waited');
    first.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
    await expect(read(order)).resolves.toMatchObject({ steps: [] });
  });

  it('refuses schemas that stand for a great many values by their count', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `s${index}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 10 }, (__, at) => [`p${at}`, { $ref: `#/components/schemas/s${index + 1}` }]),
          ),
        },
      ]),
    );
    const responses = { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/s0' } } } } };
    const paths = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`/p${index}`, { get: { responses } }]),
    );
    const content = JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } });
    await expect(read({ ...order, format: 'openapi', content })).rejects.toThrow(
      'Its schemas stand for more than 200000 values',
    );
  });
});
