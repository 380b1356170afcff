import { dirname } from 'node:path';
import { loadedBy } from '../../tools/loaded-files.ts';

/** A host runs pages of strangers: what it loads is what somebody who breaks out of a browser finds. */
const FOLDERS = [
  'activities',
  'activities/adapters/isolated',
  'activities/adapters/metrics',
  'activities/adapters/objects',
  'activities/adapters/outbound',
  'activities/browser-host',
  'activities/browser-host/automation',
  'activities/browser-host/chromium',
  'activities/browser-host/egress',
  'activities/browser-host/live',
  'activities/browser-host/recording',
  'activities/browser-host/sessions',
  'activities/overrides',
  'activities/review/browser-sessions',
  'domain',
  // Its events are announced.
  'domain/events/webhooks',
  'domain/events/webhooks/events',
  'domain/kernel/audit',
  'domain/kernel/changes',
  'domain/kernel/data',
  'domain/kernel/encryption',
  'domain/kernel/objects',
  'domain/kernel/outbound',
  'domain/kernel/overrides',
  'domain/kernel/queues',
  'domain/kernel/settings',
  'domain/kernel/shared',
  'domain/kernel/system',
  'domain/kernel/text',
  // Which hosts an environment opens to browsers.
  'domain/projects/environments',
  'domain/review/browser-sessions',
  'domain/review/browser-sessions/hosts',
  'domain/review/browser-sessions/live',
  'domain/review/browser-sessions/recordings',
  // Contracts by which it reaches workflows, and the client.
  'workflows',
  'workflows/events/webhooks',
  'workflows/insight/code-analysis',
  'workflows/review/browser-sessions',
];

const { files, packages } = loadedBy('activities/browser-host/main.ts', '.');
const of = (folder: string) => files.filter((file) => dirname(file) === folder);

test('a browser host loads files of these folders alone', () => {
  expect([...new Set(files.map((file) => dirname(file)))].toSorted()).toEqual(FOLDERS);
});

test('it loads no entities, routes, workflows or keys of the service', () => {
  expect(files.filter((file) => /\.(entities|routes|schemas|workflow)\.ts$/.test(file))).toEqual([]);
  expect(of('domain/kernel/encryption')).toEqual(['domain/kernel/encryption/public-token-ring.ts']);
  expect(files.filter((file) => /\/(encryption|keys|token-ring|tables)\.ts$/.test(file))).toEqual([]);
  expect(
    of('workflows').filter((file) => !/\/(launch|queues\.contract|temporal-[a-z]+|workflow-id)\.ts$/.test(file)),
  ).toEqual([]);
});

test('it loads the packages that it imports, and those that they need', () => {
  expect(packages).toEqual(expect.arrayContaining(['node_modules/@temporalio/core-bridge', 'node_modules/pg-pool']));
  for (const name of ['koa', 'openai', '@anthropic-ai/sdk', '@salesforce/code-analyzer-core', 'nodemailer'])
    expect(packages).not.toContain(`node_modules/${name}`);
});
