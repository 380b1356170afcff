import { dirname } from 'node:path';
import { loadedBy } from '../../tools/loaded-files.ts';

/** A host runs pages of strangers: what it loads is what somebody who breaks out of a browser finds. */
const FOLDERS = [
  'activities',
  'activities/adapters',
  'activities/browser-host',
  'activities/review/browser-sessions',
  'domain',
  'domain/kernel/audit',
  'domain/identity/auth',
  'domain/review/browser-sessions',
  // Rules that settings, reads and queues of all processes share.
  'domain/orgs/crm',
  'domain/kernel/data',
  'domain/documents',
  'domain/kernel/objects',
  'domain/kernel/outbound',
  'domain/kernel/shared',
  // Its events are announced.
  'domain/events/webhooks',
  'domain/events/webhooks/events',
  // Contracts by which it reaches workflows, and the client.
  'workflows',
  'workflows/review/browser-sessions',
  'workflows/insight/code-analysis',
  'workflows/delivery/environment-locks',
  'workflows/kernel/system',
  'workflows/events/webhooks',
];

const { files, packages } = loadedBy('activities/browser-host/main.ts', '.');
const of = (folder: string) => files.filter((file) => dirname(file) === folder);

test('a host of browsers loads files of these folders alone', () => {
  expect([...new Set(files.map((file) => dirname(file)))].toSorted()).toEqual(FOLDERS);
});

test('it loads no entities, routes, workflows or keys of the service', () => {
  expect(files.filter((file) => /\.(entities|routes|schemas|workflow)\.ts$/.test(file))).toEqual([]);
  expect(of('domain/identity/auth')).toEqual(['domain/kernel/encryption/public-token-ring.ts']);
  expect(files.filter((file) => /(shared\/(encryption|keys)|auth\/token-ring|data\/tables)\.ts$/.test(file))).toEqual(
    [],
  );
  expect(of('workflows').filter((file) => !/\/(launch|temporal-[a-z]+|workflow-id)\.ts$/.test(file))).toEqual([]);
});

test('it loads the packages that it imports, and those that they need', () => {
  expect(packages).toEqual(expect.arrayContaining(['node_modules/@temporalio/core-bridge', 'node_modules/pg-pool']));
  for (const name of ['koa', 'openai', '@anthropic-ai/sdk', '@salesforce/code-analyzer-core', 'nodemailer'])
    expect(packages).not.toContain(`node_modules/${name}`);
});
