import { createSlackPlatform } from '../../../../activities/adapters/messages/slack-platform.ts';
import { outboundAddresses } from '../../../../domain/kernel/outbound/outbound-addresses.ts';
import { type SlackSimulator, slackSimulator } from '../../../simulators/slack/slack.ts';
import type { SlackWorkspace } from '../../../simulators/slack/workspace.ts';

let slack: SlackSimulator;
let workspace: SlackWorkspace;
beforeAll(async () => {
  slack = await slackSimulator();
  workspace = slack.addWorkspace('Acme');
});
afterAll(() => slack.close());

const platformAt = (allow: string, apiUrl = slack.apiUrl, timeoutMs = 60_000) =>
  createSlackPlatform({ addresses: outboundAddresses(allow), apiUrl, timeoutMs });

test('a Slack that does not answer is given up', async () => {
  const hanging = await slackSimulator();
  const platform = platformAt('127.0.0.0/8', hanging.apiUrl, 150);
  hanging.fail({ kind: 'hang' });
  expect(await platform.identifyBot(workspace.botToken)).toMatchObject({
    isOk: false,
    code: 'unreachable',
    reason: 'Slack did not answer in time',
    isTransient: true,
  });
  await Promise.all([platform.close(), hanging.close()]);
});

test('a limit says how long it holds', async () => {
  const platform = platformAt('127.0.0.0/8');
  slack.fail({ kind: 'limit', retryAfter: 30 });
  expect(await platform.identifyBot(workspace.botToken)).toMatchObject({ code: 'rate_limited', retryAfterMs: 30_000 });
  await platform.close();
});

test('addresses that the policy forbids are not called', async () => {
  const platform = platformAt('');
  const before = slack.calls.length;
  expect(await platform.identifyBot(workspace.botToken)).toMatchObject({ isOk: false, code: 'unreachable' });
  const byName = platformAt('', slack.apiUrl.replace('127.0.0.1', 'localhost'));
  expect(await byName.identifyBot(workspace.botToken)).toMatchObject({ isOk: false, code: 'unreachable' });
  expect(slack.calls.length).toBe(before);
  await Promise.all([platform.close(), byName.close()]);
});
