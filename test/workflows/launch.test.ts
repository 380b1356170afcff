import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { defineContract, EngineUnavailableError, type WorkflowContract } from '../../workflows/launch.ts';
import { createTemporalClient, type EngineAccess } from '../../workflows/temporal-client.ts';
import { type LaunchOptions, temporalLaunch } from '../../workflows/temporal-launch.ts';
import { ensureSearchAttributes, SearchAttributesError } from '../../workflows/temporal-search-attributes.ts';
import type { AuditExportInput } from '../../workflows/kernel/audit/audit-export.contract.ts';
import { applyEventsUpdate } from '../../workflows/delivery/release-candidates/release-domain.contract.ts';
import { eventually } from '../support/worker.ts';

const address = process.env.QS_TEST_TEMPORAL_ADDRESS ?? '';
const clients: Client[] = [];
const clientOf = (access: Partial<EngineAccess>): Client => {
  const client = createTemporalClient({ address, namespace: 'default', ...access });
  clients.push(client);
  return client;
};
const logged: { level: string; error: unknown }[] = [];
const logAs = (level: string) => (given: unknown) =>
  void logged.push({ level, error: (given as { err: unknown }).err });
const log = { warn: logAs('warn'), error: logAs('error') };
const launchOf = (client: Client, options: Partial<LaunchOptions> = {}) =>
  temporalLaunch(client, { queuePrefix: `t${randomUUID()}-`, log, ...options });

let silent: Server;
const heldSockets: Socket[] = [];
beforeAll(async () => {
  silent = createServer((socket) => heldSockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  await Promise.all(clients.map(({ connection }) => connection.close()));
  for (const socket of heldSockets) socket.destroy();
  silent.close();
});

type Input = AuditExportInput;
const contract = (changes: Partial<WorkflowContract<Input>> = {}): WorkflowContract<Input> => ({
  ...defineContract('auditExport', {
    taskQueue: 'nobody',
    workflowId: ({ exportId }) => `test/${exportId}`,
    summary: () => 'test',
    searchAttributes: ({ tenantSlug }) => ({ Tenant: tenantSlug }),
  }),
  ...changes,
});
const input = (): Input => ({ tenantId: randomUUID(), tenantSlug: 'acme', exportId: randomUUID() });

test('an engine that cannot be reached is unavailable', async () => {
  const launch = launchOf(clientOf({ address: '127.0.0.1:1', pace: 0.1 }));
  await expect(launch.start(contract(), input())).rejects.toThrow(EngineUnavailableError);
  const nowhere = launchOf(clientOf({ address: 'no-such-host.invalid:7233', pace: 0.1 }));
  await expect(nowhere.stateOf(contract(), input())).rejects.toThrow(EngineUnavailableError);
});

test('a client that is closed while a retry is overdue throws nothing where nobody catches', async () => {
  const client = createTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  const ended = client.workflow
    .getHandle('none')
    .describe()
    .catch((error: unknown) => error);
  await sleep(300);
  // The process is busy for longer than any pause between attempts.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  await client.connection.close();
  await expect(ended).resolves.toBeInstanceOf(Error);
});

test('an engine, or a worker, that does not answer in time is unavailable', async () => {
  const hanging = launchOf(clientOf({ address: `127.0.0.1:${(silent.address() as AddressInfo).port}` }), {
    callTimeoutMs: 500,
  });
  await expect(hanging.start(contract(), input())).rejects.toThrow(EngineUnavailableError);
  const update = launchOf(clientOf({})).updateWithStart(contract(), input(), applyEventsUpdate, {
    args: [[]],
    timeoutMs: 500,
  });
  await expect(update).rejects.toThrow(EngineUnavailableError);
});

test.each<[string, Partial<WorkflowContract<Input>>, RegExp]>([
  ['an unknown search attribute', { searchAttributes: () => ({ Tenant: 'acme', Nonsense: 'x' }) }, /Nonsense/],
  ['a task queue with too long a name', { taskQueue: 'x'.repeat(2_000) }, /exceeds/],
  [
    'a bug in a contract',
    {
      summary() {
        throw new TypeError('no such member');
      },
    },
    /no such member/,
  ],
])('%s is an error, not an engine that is away', async (_, changes, expected) => {
  const launch = launchOf(clientOf({}));
  const failure: unknown = await launch.start(contract(changes), input()).catch((error: unknown) => error);
  expect(failure).not.toBeInstanceOf(EngineUnavailableError);
  const { message, cause } = failure as Error;
  expect(`${message} ${String(cause)}`).toMatch(expected);
  logged.length = 0;
  launch.startInBackground(contract(changes), input());
  await eventually(
    async () => logged,
    ({ length }) => length > 0,
  );
  expect(logged).toEqual([{ level: 'error', error: expect.any(Error) }]);
});

test('the search attributes are created once in a namespace that has none of them', async () => {
  const namespace = `attributes-${randomUUID()}`;
  const client = clientOf({ namespace });
  await client.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await eventually(
    () => ensureSearchAttributes(client).catch(() => undefined),
    (outcome) => outcome === 'created',
  );
  expect(await ensureSearchAttributes(client)).toBe('present');
  await launchOf(client).start(contract(), input());
});

test('a search attribute of another type is named', async () => {
  const namespace = `types-${randomUUID()}`;
  const client = clientOf({ namespace });
  await client.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const INT = 3 as never;
  const addInt = () =>
    client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { Tenant: INT } });
  await eventually(
    () => addInt().catch(() => undefined),
    (answer) => answer !== undefined,
  );
  await expect(ensureSearchAttributes(client)).rejects.toThrow(
    new SearchAttributesError(
      `The namespace ${namespace} has search attributes of another type than Keyword: Tenant. Use another namespace, or rename them.`,
    ),
  );
});

test('a contract names a workflow that exists, and its input is what the workflow takes', () => {
  // @ts-expect-error there is no such workflow
  defineContract('noSuchWorkflow', { ...contract() });
  // @ts-expect-error the workflow takes the id of an export
  defineContract('auditExport', { ...contract(), workflowId: ({ webhookId }) => String(webhookId) });
});
