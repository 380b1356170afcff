import { importWireMockArchive } from '../../../../domain/mocks/formats/wiremock.ts';
import { type ZipPart, zipOf } from '../../../simulators/crm-org/zip.ts';

const file = (name: string, content: unknown): ZipPart => ({
  name,
  content: typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
});
const answering = (url: string, response: unknown) => ({ request: { url }, response });
const read = (...parts: ZipPart[]) => importWireMockArchive(zipOf(parts));

describe('a folder of WireMock as a zip', () => {
  it('answers with the files that its mappings name, as text or as bytes, below any folder', async () => {
    const { steps, notTaken } = await read(
      file('mocks-main/', ''),
      file('mocks-main/README.md', '# Mocks'),
      file('mocks-main/mappings/deep/a.json', answering('/a', { bodyFileName: 'texts/a.json' })),
      file('mocks-main/mappings/b.json', {
        mappings: [answering('/b', { bodyFileName: '/picture.png', status: 203 })],
      }),
      file('mocks-main/mappings/notes.txt', 'no mapping'),
      file('mocks-main/__files/texts/a.json', '{"a": "é"}'),
      file('mocks-main/__files/picture.png', Buffer.from([0xff, 0xd8, 0])),
      file('__MACOSX/mocks-main/mappings/._b.json', 'x'),
    );
    expect(notTaken).toEqual([]);
    expect(steps.map(({ request, response }) => [request.path, response])).toEqual([
      ['/a', { status: 200, body: '{"a": "é"}' }],
      ['/b', { status: 203, bodyBase64: '/9gA' }],
    ]);
  });

  it('reads templates in files, and names of the path in them', async () => {
    const { steps } = await read(
      file('mappings/a.json', {
        request: { urlPathPattern: '/users/[^/]+' },
        response: { bodyFileName: 'user.json', transformers: ['response-template'] },
      }),
      file('__files/user.json', '{"id": "{{request.pathSegments.[1]}}"}'),
    );
    expect(steps[0]).toMatchObject({
      request: { path: '/users/{segment1}' },
      response: { template: true, body: '{"id": "{{ request.path.segment1 }}"}' },
    });
  });

  it('names what it does not have, with the path of the file', async () => {
    const { steps, notTaken } = await read(
      file('mappings/a.json', answering('/a', { bodyFileName: 'gone.json' })),
      file('mappings/b.json', [answering('/b', { bodyFileName: '{{request.path}}.json' })]),
      file('mappings/c.json', '{'),
      file('mappings/d.json', answering('/d', { bodyFileName: '../mappings/a.json' })),
      file('mappings/e.json', answering('/e', {})),
    );
    expect(steps.map(({ request }) => request.path)).toEqual(['/e']);
    expect(Object.fromEntries(notTaken.map(({ pointer, reason }) => [pointer, reason]))).toEqual({
      '/mappings~1a.json/response/bodyFileName': 'names gone.json, which is not in __files',
      '/mappings~1b.json/0/response/bodyFileName': expect.stringContaining('is a template'),
      '/mappings~1c.json': expect.stringContaining('is not JSON'),
      '/mappings~1d.json/response/bodyFileName': 'names ../mappings/a.json, which is not in __files',
    });
  });

  it.each<[string, ZipPart[], string]>([
    ['has no mappings', [file('a.json', '{}')], 'has no folder mappings'],
    ['has two folders', [file('a/mappings/a.json', '{}'), file('b/mappings/a.json', '{}')], 'several folders mappings'],
    ['leads out', [file('../mappings/a.json', '{}')], 'names that lead out of it'],
    ['has a link', [file('mappings/a.json', '{}'), { ...file('__files/a', '/etc/passwd'), mode: 0o120_777 }], 'link'],
    ['is larger than it says', [{ ...file('mappings/a.json', ' '.repeat(1_000)), claimedSize: 10 }], 'damaged'],
    ['claims much', [{ ...file('mappings/a.json', ' '.repeat(300)), claimedSize: 20_000_000 }], 'larger than'],
    [
      'claims much in all',
      Array.from({ length: 10 }, (_, at) => ({
        ...file(`mappings/${at}.json`, ' '.repeat(300)),
        claimedSize: 15_000_000,
      })),
      'unpacks to more than',
    ],
    [
      'repeats its bytes',
      Array.from({ length: 10 }, (_, at) => ({ ...file(`mappings/${at}.json`, ' '.repeat(100)), isShared: at > 0 })),
      'overlap',
    ],
    ['has many', Array.from({ length: 20_001 }, (_, at) => file(`mappings/${at}.json`, '')), 'at most 20000'],
  ])('is refused as a whole when it %s', async (_, parts, message) => {
    await expect(read(...parts)).rejects.toThrow(message);
  });

  it('is refused when it is no zip', async () => {
    await expect(importWireMockArchive(Buffer.from('{"request": {}}'))).rejects.toThrow('damaged');
  });
});
