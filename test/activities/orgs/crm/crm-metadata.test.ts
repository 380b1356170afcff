import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { RetrieveOrder, ZipEntry } from '../../../../domain/orgs/crm/crm-metadata.port.ts';
import type { CrmOrg } from '../../../../domain/orgs/crm/crm-platform.port.ts';
import type { SimulatedOrg } from '../../../simulators/crm-org/org.ts';
import { HOSTILE_ZIPS, type HostileZip } from '../../../simulators/crm-org/zip.ts';
import { accessTo, failureOf, IMPATIENT, valueOf, simulatedPlatform, crmPlatform } from '../../../support/crm.ts';

const given = simulatedPlatform();
let simulated: SimulatedOrg;
let org: CrmOrg;

beforeEach(() => {
  simulated = given.crm.org('acme');
  org = given.platform.org(accessTo(given.platform, simulated));
});

async function retrieved(order: RetrieveOrder): Promise<string> {
  const { retrieveId } = valueOf(await org.startRetrieve(order));
  for (;;) {
    const { state } = valueOf(await org.retrieveStatus(retrieveId));
    if (state === 'succeeded') return retrieveId;
    if (state === 'failed') throw new Error('the retrieve failed');
  }
}

const envelope = (response: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${response}</s:Body></s:Envelope>`;

const classes = (...members: string[]): RetrieveOrder => ({ types: [{ name: 'ApexClass', members }] });

async function textOf(entry: ZipEntry): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry.content()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const download = (retrieveId: string) =>
  org.download(retrieveId, async ({ entries, files, messages }) => ({
    contents: Object.fromEntries(
      await Promise.all(entries.map(async (entry) => [entry.path, await textOf(entry)] as const)),
    ),
    files,
    messages,
  }));

const archives = () => readdirSync(tmpdir()).filter((name) => name.startsWith('quayside-archive-'));

describe('Metadata of an org', () => {
  test('is described', async () => {
    const types = valueOf(await org.describeMetadata());
    expect(types).toContainEqual({
      name: 'CustomObject',
      directoryName: 'objects',
      suffix: 'object',
      isInFolder: false,
      hasMetaFile: false,
      childTypes: ['CustomField', 'ValidationRule', 'ListView', 'RecordType'],
    });
    expect(types).toContainEqual(expect.objectContaining({ name: 'LightningComponentBundle', suffix: null }));
    expect(types).toContainEqual(expect.objectContaining({ name: 'Report', isInFolder: true }));
  });

  test('is listed, with children and folders', async () => {
    const { metadata } = simulated;
    metadata.write('classes/A.cls', 'class A {}', {
      modifiedBy: 'Grace & <Co>',
      modifiedAt: new Date('2026-11-01T10:00:00Z'),
    });
    metadata.write('classes/ns__B.cls', '', { manageableState: 'installed', namespacePrefix: 'ns' });
    metadata.write(
      'objects/Account.object',
      '<CustomObject><fields><fullName>Region__c</fullName></fields></CustomObject>',
    );
    metadata.write('reports/Sales/Pipeline.report', '<Report/>');
    const listed = valueOf(
      await org.listMetadata([{ type: 'ApexClass' }, { type: 'CustomField' }, { type: 'ReportFolder' }]),
    );
    expect(listed[0]).toMatchObject({
      type: 'ApexClass',
      fullName: 'A',
      fileName: 'classes/A.cls',
      lastModifiedByName: 'Grace & <Co>',
      lastModifiedAt: '2026-11-01T10:00:00.000Z',
      namespacePrefix: null,
    });
    expect(listed[1]).toMatchObject({ manageableState: 'installed', namespacePrefix: 'ns' });
    expect(listed.slice(2).map(({ type, fullName }) => [type, fullName])).toEqual([
      ['CustomField', 'Account.Region__c'],
      ['ReportFolder', 'Sales'],
    ]);
    expect(valueOf(await org.listMetadata([{ type: 'Report', folder: 'Sales' }]))).toMatchObject([
      { fullName: 'Sales/Pipeline' },
    ]);
    expect(valueOf(await org.listMetadata([{ type: 'Dashboard', folder: 'None' }]))).toEqual([]);
    expect(failureOf(await org.listMetadata([{ type: 'Nonsense' }, { type: 'ApexClass' }]))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_TYPE',
    });
    for (const count of [0, 4])
      await expect(org.listMetadata(Array.from({ length: count }, () => ({ type: 'ApexClass' })))).rejects.toThrow(
        'one to 3 queries',
      );
  });

  test('is listed as the platform names it, with the namespace in each part', async () => {
    simulated.metadata.write(
      'objects/ns__Invoice__c.object',
      '<CustomObject><fields><fullName>ns__Total__c</fullName></fields></CustomObject>',
      { namespacePrefix: 'ns' },
    );
    expect(valueOf(await org.listMetadata([{ type: 'CustomField' }]))).toMatchObject([
      { type: 'CustomField', fullName: 'ns__Invoice__c.ns__Total__c', namespacePrefix: 'ns' },
    ]);
    const body = envelope(
      '<listMetadataResponse><result/><result><fullName>Account</fullName><type>AccountSettings</type></result></listMetadataResponse>',
    );
    simulated.fail({ kind: 'reply', status: 200, body }, { path: /Soap/ });
    expect(valueOf(await org.listMetadata([{ type: 'ApexClass' }, { type: 'Settings' }]))).toMatchObject([
      { type: 'AccountSettings', fullName: 'Account' },
    ]);
  });

  test('is listed whole when a session ended', async () => {
    simulated.metadata.write('classes/A.cls', '');
    await org.limits();
    simulated.endSessions();
    expect(valueOf(await org.listMetadata([{ type: 'ApexClass' }]))).toHaveLength(1);
  });

  test('is retrieved, and the archive is given once', async () => {
    simulated.metadata.write('classes/A.cls', 'class A {} // été 漢字');
    simulated.metadata.write('lwc/card/card.js', 'export {}');
    const id = await retrieved({
      types: [...classes('A', 'Missing').types, { name: 'LightningComponentBundle', members: ['*'] }],
    });
    const { contents, files, messages } = valueOf(await download(id));
    expect(Object.keys(contents).toSorted()).toEqual([
      'unpackaged/classes/A.cls',
      'unpackaged/classes/A.cls-meta.xml',
      'unpackaged/lwc/card/card.js',
      'unpackaged/package.xml',
    ]);
    expect(contents['unpackaged/classes/A.cls']).toBe('class A {} // été 漢字');
    expect(files).toMatchObject([{ fullName: 'A', fileName: 'unpackaged/classes/A.cls' }, { fullName: 'card' }]);
    expect(messages).toEqual([{ fileName: 'unpackaged/package.xml', problem: expect.stringContaining("'Missing'") }]);
    expect(failureOf(await download(id))).toMatchObject({
      kind: 'not_found',
      code: 'NO_ARCHIVE',
      hint: 'Start a new retrieve.',
    });
    expect(archives()).toEqual([]);
  });

  test('of megabytes arrives unharmed in many pieces', async () => {
    const content = Array.from({ length: 100_000 }, (_, index) => `line ${index * 7_919}`).join('\n');
    for (let index = 0; index < 8; index++) simulated.metadata.write(`classes/A${index}.cls`, content + String(index));
    const { contents } = valueOf(await download(await retrieved(classes('*'))));
    expect(Object.keys(contents)).toHaveLength(17);
    expect(contents['unpackaged/classes/A7.cls']).toBe(`${content}7`);
  });

  test('cannot be reached by names that are XML', async () => {
    simulated.metadata.write('classes/A.cls', 'A');
    simulated.metadata.write('classes/B.cls', 'B');
    const evil = 'A</members><members>B</members><members>';
    const { contents, messages } = valueOf(await download(await retrieved(classes(evil, '\u0000'))));
    expect(Object.keys(contents)).toEqual(['unpackaged/package.xml']);
    expect(messages.map(({ problem }) => problem)).toContainEqual(expect.stringContaining(evil));
    expect(failureOf(await org.listMetadata([{ type: '</type><type>ApexClass' }]))).toMatchObject({
      code: 'INVALID_TYPE',
    });
  });

  test('that is not ready, too much, or unknown is refused', async () => {
    simulated.metadata.write('classes/A.cls', 'A');
    simulated.metadata.write('classes/B.cls', 'B');
    const { retrieveId } = valueOf(await org.startRetrieve(classes('*')));
    expect(failureOf(await download(retrieveId))).toMatchObject({ kind: 'refused', code: 'NOT_DONE' });
    simulated.maxFiles = 2;
    expect(valueOf(await org.retrieveStatus(retrieveId))).toEqual({
      state: 'failed',
      errorCode: 'LIMIT_EXCEEDED',
      errorMessage: expect.stringContaining('exceeds'),
    });
    expect(failureOf(await download(retrieveId))).toMatchObject({ kind: 'refused', code: 'LIMIT_EXCEEDED' });
    expect(failureOf(await org.retrieveStatus('09SgoneGone'))).toMatchObject({
      kind: 'refused',
      code: 'INVALID_CROSS_REFERENCE_KEY',
    });
  });

  test('whose retrieve failed says why in few words, without secrets', async () => {
    const { retrieveId } = valueOf(await org.startRetrieve(classes('*')));
    const [accessToken = ''] = simulated.sessions.keys();
    const message = `no ${accessToken}\n&#x85;${'x'.repeat(400_000)}`;
    const result = `<result><status>Failed</status><errorStatusCode>${'Y'.repeat(1_000)}</errorStatusCode><errorMessage>${message}</errorMessage></result>`;
    const body = envelope(`<checkRetrieveStatusResponse>${result}</checkRetrieveStatusResponse>`);
    simulated.fail({ kind: 'reply', status: 200, body }, { times: 2, path: /Soap/ });
    const status = valueOf(await org.retrieveStatus(retrieveId));
    expect(status).toEqual({
      state: 'failed',
      errorCode: expect.stringMatching(/^Y{1,300}$/),
      errorMessage: expect.stringMatching(/^no … x{1,295}$/),
    });
    expect(failureOf(await download(retrieveId)).message).toBe(status.errorMessage);
  });

  test.each(['constructor', 'toString', '__proto__'])(
    'whose retrieve is in the state %s is under way',
    async (state) => {
      const { retrieveId } = valueOf(await org.startRetrieve(classes('*')));
      const result = `<result><status>${state}</status></result>`;
      const body = envelope(`<checkRetrieveStatusResponse>${result}</checkRetrieveStatusResponse>`);
      simulated.fail({ kind: 'reply', status: 200, body }, { path: /Soap/ });
      expect(valueOf(await org.retrieveStatus(retrieveId)).state).toBe('in_progress');
    },
  );

  test('is refused to tokens that are JWTs, which no renewal changes', async () => {
    simulated.hasJwtTokens = true;
    const access = accessTo(given.platform, simulated);
    const failure = failureOf(await given.platform.org(access).describeMetadata());
    expect(failure).toMatchObject({ kind: 'refused', code: 'JWT_ACCESS_TOKEN' });
    expect(access.minted).toBe(1);
    simulated.versions.push('68.0');
    const later = crmPlatform();
    expect((await later.org(accessTo(later, simulated)).describeMetadata()).isOk).toBe(true);
    await later.close();
  });

  test('passes on what its reader throws, and leaves no file', async () => {
    simulated.metadata.write('classes/A.cls', 'A');
    const id = await retrieved(classes('A'));
    const stop = org.download(id, async () => {
      throw new Error('the store is full');
    });
    await expect(stop).rejects.toThrow('the store is full');
    expect(archives()).toEqual([]);
  });
});

describe('A hostile answer', () => {
  const CODES: Record<HostileZip, string> = {
    parent: 'ZIP',
    absolute: 'ZIP',
    backslash: 'ZIP',
    duplicate: 'ZIP_DUPLICATE',
    large: 'ZIP_ENTRY_SIZE',
    liar: 'ZIP',
    sum: 'ZIP_SIZE',
    overlap: 'ZIP_OVERLAP',
    control: 'ZIP_NAME',
    many: 'ZIP_ENTRIES',
    corrupt: 'ZIP_CHECKSUM',
    truncated: 'ZIP',
    garbage: 'ZIP',
  };

  test.each(Object.keys(HOSTILE_ZIPS) as HostileZip[])('is refused: a zip of the kind %s', async (zip) => {
    simulated.metadata.write('classes/A.cls', 'A');
    const id = await retrieved(classes('A'));
    simulated.fail({ kind: 'zip', zip }, { path: /Soap/ });
    expect(failureOf(await download(id))).toMatchObject({
      kind: 'malformed',
      code: CODES[zip],
      hint: expect.any(String),
    });
    expect(archives()).toEqual([]);
  });

  test('is refused: entities', async () => {
    simulated.fail('doctype', { times: 2, path: /Soap/ });
    expect(failureOf(await org.describeMetadata())).toMatchObject({ kind: 'malformed', code: 'XML_DOCTYPE' });
    expect(failureOf(await org.retrieveStatus('09S'))).toMatchObject({ kind: 'malformed', code: 'XML_DOCTYPE' });
  });

  test('is refused: one of more than 64 MiB', async () => {
    // The limit counts bytes and the parser characters, of which these have three each.
    const body = `<!--${'漢'.repeat((65 * 1_048_576) / 3)}`;
    simulated.fail({ kind: 'reply', status: 200, body }, { path: /Soap/ });
    const failure = failureOf(await org.describeMetadata());
    expect(failure).toMatchObject({ kind: 'malformed', code: 'TOO_LARGE' });
  });

  test.each([
    ['hang', { kind: 'timeout' }],
    ['drip', { kind: 'timeout' }],
    ['drop', { kind: 'unreachable' }],
    ['endless', { kind: 'malformed', code: 'NOT_XML' }],
    ['html', { kind: 'malformed', code: 'HTML' }],
    ['html-503', { kind: 'unreachable' }],
    ['used-up', { kind: 'limited', code: 'REQUEST_LIMIT_EXCEEDED' }],
    ['redirect', { kind: 'refused', code: 'HTTP_302' }],
    ['gone', { kind: 'auth_failed', code: 'HTTP_420' }],
  ] as const)('fails at once: %s', async (fault, expected) => {
    simulated.metadata.write('classes/A.cls', 'A');
    const id = await retrieved(classes('A'));
    if (expected.kind === 'timeout') ({ org } = await given.openedWith(IMPATIENT, simulated));
    const before = given.crm.requests.length;
    simulated.fail(fault, { times: 2, path: /Soap/ });
    expect(failureOf(await org.listMetadata([{ type: 'ApexClass' }]))).toMatchObject(expected);
    expect(failureOf(await download(id))).toMatchObject(expected);
    expect(given.crm.requests.length - before).toBe(2);
    expect(given.crm.requests.some(({ org: name }) => name === 'elsewhere')).toBe(false);
  });
});
