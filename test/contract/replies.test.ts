import { Validator } from '@seriousme/openapi-schema-validator';
import type { AnyRoute } from '../../api/http/define-route.ts';
import type { ReferenceExample } from '../../api/http/openapi/openapi-examples.ts';
import { routes } from '../../api/routes.ts';
import { type MailServer, mailServer } from '../simulators/mail-server.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { startWorker, type TestWorker } from '../support/worker.ts';
import { addressOf, callerOf, type Examples, guardedRoutes, makeExamples, nameOf, optionsOf } from './examples.ts';
import { type PublishedReference, publishedReference } from './published-reference.ts';
import { readRecorded, recordedExample, writeRecorded } from './recorded-examples.ts';

/** Set to write the examples of the reference anew: `npm run record-examples`. */
const isRecording = process.env.RECORD_EXAMPLES === 'true';

let app: TestApp;
let mail: MailServer;
let reference: PublishedReference;
/** Gives the answers for which requests wait. */
let worker: TestWorker;
const recorded: Record<string, ReferenceExample> = {};
/** What is only read is made once, what is changed once more. */
let read: Examples;
let changed: Examples;
beforeAll(async () => {
  mail = await mailServer();
  app = await testApp({ env: { SMTP_URL: mail.url }, commands: ['analyze', 'build'] });
  reference = await publishedReference(app.as());
  [read, changed] = [makeExamples(app), makeExamples(app)];
  worker = await startWorker(app, ['environment-locks-v1', 'releases-v1']);
});
afterAll(async () => {
  if (isRecording) writeRecorded({ ...readRecorded(), ...recorded });
  await worker.stop();
  await app.close();
  await mail.close();
});

/** Calls that succeed only on things that no call before them has used. */
const ON_NEW_THINGS: ReadonlySet<string> = new Set([
  'resolveEmails',
  'confirmTotp',
  'submitPasswordSetupForm',
  'acceptInvitation',
  'declineInvitation',
  'updateReleaseCandidateStatusByName',
  'updateReleaseCandidatePackages',
  'createLiveLink',
  'reconcileBuild',
  'reportRunProgress',
  'failAuditExport',
  'testChatWorkspace',
  'receiveChatCommand',
  'receiveChatInteraction',
  'receiveChatEvent',
]);
/** Segments of a recording, which never change, and what the live page consists of may be kept by whoever asked. */
const KEPT_BY_READERS: ReadonlySet<string> = new Set(['getBrowserReplaySegment', 'getLiveAsset']);

const examplesFor = ({ method, operationId }: AnyRoute): Examples => {
  if (method === 'delete' || ON_NEW_THINGS.has(operationId)) return makeExamples(app);
  return method === 'get' ? read : changed;
};

test.each(routes.map((route) => [nameOf(route), route] as const))('%s replies as documented', async (_, route) => {
  const example = await examplesFor(route).of(route);
  const status = example.status ?? route.status;
  const reply = await app
    .as(callerOf(route, app))
    .request(status, route.method.toUpperCase(), addressOf(route, example), optionsOf(example));
  expect(reference.violations(route, reply)).toEqual([]);
  expect(reply.headers.get('x-request-id')).toBeTruthy();
  if (route.roles !== 'public') expect(reply.headers.get('ratelimit-policy')).toBeTruthy();
  const caching = reply.headers.get('cache-control') ?? '';
  if (!KEPT_BY_READERS.has(route.operationId)) expect(caching).toMatch(/^(private, )?no-store$/);
  else expect(caching).not.toContain('public');
  const written = await trailOf(reply.headers.get('x-request-id'));
  const allowed = typeof route.audit === 'string' ? [route.audit] : Array.isArray(route.audit) ? route.audit : [];
  expect(written.filter((action) => !allowed.includes(action))).toEqual([]);
  if (allowed.length > 0 && status < 400) expect(written.length).toBeGreaterThan(0);
  recorded[route.operationId] = recordedExample(example, reply);
});

const trailOf = async (requestId: string | null): Promise<string[]> => {
  const rows = await app.sql<{ action: string }>(
    'select action from audit_entry where request_id = ? order by sequence',
    [requestId],
  );
  return rows.map(({ action }) => action);
};

// While it is recorded, the file still holds what was recorded before.
(isRecording ? test.skip : test)('the reference shows the calls of these tests: else npm run record-examples', () => {
  const shown = readRecorded();
  expect(Object.keys(shown)).toEqual(routes.map(({ operationId }) => operationId).toSorted());
  const callOf = ({ reply: _, ...call }: ReferenceExample) => call;
  for (const [operation, example] of Object.entries(recorded)) {
    expect([operation, shown[operation] && callOf(shown[operation])]).toEqual([operation, callOf(example)]);
  }
});

test('the examples of the reference match their schemas', () => {
  expect(routes.flatMap((route) => reference.wrongExamples(route).map((error) => [nameOf(route), error]))).toEqual([]);
});

test('the reference is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(reference.document);
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test('every operation has a unique name in camel case', () => {
  const operationIds = routes.map(({ operationId }) => operationId);
  expect(operationIds.filter((id) => !/^(?!post|put)[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
  expect(operationIds.filter((id, index) => operationIds.indexOf(id) !== index)).toEqual([]);
});

test('every route has a summary, and every route that mutates says what it audits', () => {
  for (const route of guardedRoutes) {
    expect(route.summary.length).toBeGreaterThan(5);
    if (route.method !== 'get') expect(route.audit).toBeDefined();
  }
});

test('the browsable reference loads nothing from elsewhere', async () => {
  const { text, headers } = await app.as().request(200, 'GET', '/docs');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  expect(assets.length).toBeGreaterThan(2);
  for (const address of assets) {
    expect(address).toMatch(/^\//);
    await app.as().request(200, 'GET', address);
  }
});
