import { readImport } from '../../../../domain/mocks/formats/read-import.ts';

const standInKey = Buffer.from('key');
const order = { standInKey, content: '{"log": {"entries": []}}', format: 'har' as const };

describe('reading a document in a thread of its own', () => {
  it('gives the steps of several, one after another', async () => {
    const format = 'wiremock' as const;
    const content = '{"request": {"url": "/a"}, "response": {}}';
    const all = await Promise.all([readImport(order), readImport({ ...order, format, content })]);
    expect(all.map(({ steps }) => steps.length)).toEqual([0, 1]);
  });

  it('refuses what it cannot read, and goes on', async () => {
    await expect(readImport({ ...order, content: '{' })).rejects.toThrow('The archive is not JSON');
    await expect(readImport({ ...order, format: 'yaml', content: 'a: &a\nb: *a' })).rejects.toThrow(
      'Aliases are not taken',
    );
    await expect(readImport(order)).resolves.toMatchObject({ steps: [] });
  });
});
