import { EVENT_FAMILIES } from '../../../../domain/people/chat/event-family-rules.ts';
import { approvalList } from '../../../../domain/people/chat/approval-message-rules.ts';
import { parseCommand } from '../../../../domain/people/chat/command-rules.ts';
import { isResponseUrl } from '../../../../domain/people/chat/inbound-rules.ts';
import { type ChatMessage, escaped, link, message, section } from '../../../../domain/people/chat/message-rules.ts';
import { notification } from '../../../../domain/people/chat/notification-rules.ts';
import { catalogEntries } from '../../../../domain/events/webhooks/event-catalog.ts';
import { mentionsOf, messageProblem } from '../../../simulators/slack/message-limits.ts';

const PUBLIC_URL = 'https://quayside.example';
const HOSTILE = '@here #general <!channel> <@U1> <https://evil.example|click> & *bold* <!here';

const problemOf = ({ text, blocks }: ChatMessage) => messageProblem(text, JSON.parse(JSON.stringify(blocks)));
const mentionsIn = ({ text, blocks }: ChatMessage) => mentionsOf(text, JSON.parse(JSON.stringify(blocks)));

/** The same data with every text replaced. */
const withTexts = (data: Record<string, unknown>, text: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? text : Array.isArray(value) ? value.map(() => text) : value,
    ]),
  );

test('what is escaped is dead, and no entity is cut', () => {
  expect(escaped('a<b>&c')).toBe('a&lt;b&gt;&amp;c');
  for (let max = 2; max < 30; max++) {
    const cut = escaped('&&&😀&<>'.repeat(4), max);
    expect(cut.length).toBeLessThanOrEqual(max);
    expect(cut).toMatch(/^(&amp;|&lt;|&gt;|😀)*…$/u);
  }
  expect(link('https://x.example', 'a|b>c')).toBe('<https://x.example|a¦b&gt;c>');
});

test.each(catalogEntries.map(({ event, sample }) => [event, sample.data] as const))(
  'the message about %s is one that Slack takes, whatever its data holds',
  (event, data) => {
    const usual = notification(event, data, PUBLIC_URL);
    expect(problemOf(usual)).toBeUndefined();
    expect(usual.text.length).toBeGreaterThan(5);
    const hostile = notification(event, withTexts(data, HOSTILE), PUBLIC_URL);
    expect(problemOf(hostile)).toBeUndefined();
    expect(mentionsIn(hostile)).toEqual([]);
    expect(JSON.stringify(hostile)).not.toContain('<https://evil');
    for (const long of ['x'.repeat(20_000), '&'.repeat(20_000), '😀'.repeat(20_000)])
      expect(problemOf(notification(event, withTexts(data, long), PUBLIC_URL))).toBeUndefined();
    for (const odd of [null, [], 'text', 1, {}, { id: {} }])
      expect(problemOf(notification(event, odd, PUBLIC_URL))).toBeUndefined();
  },
);

test('each family of events has facts, and says where there is more', () => {
  const families = new Set(catalogEntries.map(({ event }) => event.split('.')[0] ?? ''));
  expect([...families].filter((family) => !(family in EVENT_FAMILIES))).toEqual([]);
  const long = notification('org.auth_failed', { orgUsername: 'a@b.example', error: 'x'.repeat(400) }, PUBLIC_URL);
  expect(long.blocks.at(-1)).toMatchObject({
    type: 'context',
    elements: [
      {
        text: `There is more than fits here. · <${PUBLIC_URL}/docs#/CRM%20orgs/getOrg|GET /api/auth/crm/org?username=a%40b.example&amp;authType=none>`,
      },
    ],
  });
  const lease = { assignmentId: 'a1', poolTag: 'p', assignedFor: '17', reason: 'no longer needed' };
  const shown = JSON.stringify(notification('review_environment.released', lease, PUBLIC_URL));
  for (const text of ['*For*\\n17', '*Reason*\\nno longer needed', '/review-env/a1|Details>'])
    expect(shown).toContain(text);
});

test('an event of clients shows its first members', () => {
  const shown = notification('smoke_test.done', { result: 'green', [HOSTILE]: HOSTILE, nested: { a: 1 } }, PUBLIC_URL);
  expect(shown.text).toBe('Smoke test done');
  expect(problemOf(shown)).toBeUndefined();
  expect(mentionsIn(shown)).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`m${index}`, 'x'.repeat(5_000)]));
  expect(problemOf(notification('smoke_test.done', many, PUBLIC_URL))).toBeUndefined();
});

test('what does not fit is left out, with a word about it; the ending stays', () => {
  const blocks = Array.from({ length: 80 }, (_, index) => section(`block ${index} ${'y'.repeat(200)}`));
  const cut = message('a title', blocks, [section('the end')], 'follow the link');
  expect(problemOf(cut)).toBeUndefined();
  expect(cut.blocks.length).toBeLessThanOrEqual(50);
  expect(cut.blocks.slice(-2)).toEqual([
    { type: 'context', elements: [{ type: 'mrkdwn', text: 'follow the link', verbatim: true }] },
    section('the end'),
  ]);
  const approvals = Array.from({ length: 10 }, (_, index) => ({
    id: `0198c5a0-7b3e-7000-8000-00000000000${index}`,
    taskType: 'execute-release',
    releaseName: HOSTILE,
    status: 'requested',
    requestedBy: 'x'.repeat(254),
  }));
  expect(problemOf(approvalList(approvals, 200))).toBeUndefined();
  expect(mentionsIn(approvalList(approvals, 200))).toEqual([]);
});

test('a message of an approval has buttons while it is open', () => {
  const approval = {
    id: '0198c5a0-7b3e-7000-8000-000000000001',
    taskType: 'execute-release',
    releaseName: '2026.03',
    environmentName: 'production',
    status: 'requested',
    approvers: ['platform'],
    requestedBy: 'dana@example.com',
    repositoryIdentifier: 'acme/storefront',
  };
  expect(notification('approval.requested', approval, PUBLIC_URL)).toMatchInlineSnapshot(`
{
  "blocks": [
    {
      "text": {
        "text": "Approval requested: execute-release · 2026.03 · production",
        "type": "plain_text",
      },
      "type": "header",
    },
    {
      "fields": [
        {
          "text": "*Repository*
acme/storefront",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Release*
2026.03",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Environment*
production",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Status*
requested",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Requested by*
dana@example.com",
          "type": "mrkdwn",
          "verbatim": true,
        },
      ],
      "type": "section",
    },
    {
      "elements": [
        {
          "text": "<https://quayside.example/console/inbox?project=acme%2Fstorefront|Details>",
          "type": "mrkdwn",
          "verbatim": true,
        },
      ],
      "type": "context",
    },
  ],
  "text": "Approval requested: execute-release · 2026.03 · production",
}
`);
  const decided = { ...approval, status: 'approved', resolvedBy: 'kim@example.com', comment: 'checked' };
  expect(notification('approval.approved', decided, PUBLIC_URL)).toMatchInlineSnapshot(`
{
  "blocks": [
    {
      "text": {
        "text": "Approval approved: execute-release · 2026.03 · production",
        "type": "plain_text",
      },
      "type": "header",
    },
    {
      "fields": [
        {
          "text": "*Repository*
acme/storefront",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Release*
2026.03",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Environment*
production",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Status*
approved",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Requested by*
dana@example.com",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Decided by*
kim@example.com",
          "type": "mrkdwn",
          "verbatim": true,
        },
        {
          "text": "*Comment*
checked",
          "type": "mrkdwn",
          "verbatim": true,
        },
      ],
      "type": "section",
    },
    {
      "elements": [
        {
          "text": "<https://quayside.example/console/inbox?project=acme%2Fstorefront|Details>",
          "type": "mrkdwn",
          "verbatim": true,
        },
      ],
      "type": "context",
    },
  ],
  "text": "Approval approved: execute-release · 2026.03 · production",
}
`);
});

test('an event alone gives nobody a button to decide with', () => {
  const shown = notification(
    'approval.requested',
    { id: '0198c5a0-7b3e-7000-8000-000000000001', taskType: 'docs', status: 'requested' },
    PUBLIC_URL,
  );
  expect(shown.text).toBe('Approval requested: docs');
  expect(JSON.stringify(shown)).not.toContain('button');
});

test.each([
  ['', { name: 'help' }],
  [' HELP ', { name: 'help' }],
  ['approvals now', { name: 'approvals' }],
  ['where SHOP-12', { name: 'where', key: 'SHOP-12', repositoryIdentifier: undefined }],
  ['where  SHOP-12   acme/shop', { name: 'where', key: 'SHOP-12', repositoryIdentifier: 'acme/shop' }],
  ['where', { name: 'unknown', problem: expect.stringContaining('needs the key') }],
  ['env', { name: 'unknown', problem: expect.stringContaining('env extend') }],
  ['env extend', { name: 'extend', hours: undefined, of: undefined }],
  ['env Extend 8 uat@acme.example', { name: 'extend', hours: 8, of: 'uat@acme.example' }],
  ['env extend uat@acme.example 8', { name: 'extend', hours: 8, of: 'uat@acme.example' }],
  ['env extend 0', { name: 'unknown', problem: expect.stringContaining('an hour or more') }],
])('the command %j is understood', (text, expected) => {
  expect(parseCommand(text)).toEqual(expected);
});

test.each([
  ['https://hooks.slack.com/commands/T1/2/3', true],
  ['http://127.0.0.1:4010/actions/T1/2', true],
  ['http://hooks.slack.com/x', false],
  ['https://hooks.slack.com@evil.example/x', false],
  ['https://hooks.slack.com:8443/x', false],
  ['https://slack.com.evil.example/x', false],
  ['file:///etc/passwd', false],
  ['', false],
])('answers to %s may be sent: %p', (url, isAllowed) => {
  expect(isResponseUrl(url, 'http://127.0.0.1:4010/api/')).toBe(isAllowed);
});
