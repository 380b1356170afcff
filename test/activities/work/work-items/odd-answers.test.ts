import fc from 'fast-check';
import { WorkItem, WorkItemSummary } from '../../../../api/work/work-items/work-items.schemas.ts';
import type { ExchangeWithHost } from '../../../../activities/adapters/git-hosts/host-http.ts';
import { createTrackerLimits } from '../../../../activities/adapters/trackers/tracker-http.ts';
import { trackerAt } from '../../../../activities/adapters/trackers/work-trackers.ts';
import type { TrackerPlatform } from '../../../../domain/work/work-items/work-tracker.port.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const TIME = '2026-03-02T09:30:00Z';
const PERSON = { login: 'dana', id: 1, accountId: '1', displayName: 'Dana', uniqueName: 'dana@example.com' };

/** An answer to every question, whose members are replaced by what a tracker would never send. */
const ANSWERS: Record<
  TrackerPlatform,
  { id: string; item: Record<string, unknown>; around: (items: unknown[]) => object }
> = {
  'tracker-a': {
    id: 'SHOP-1',
    item: {
      summary: 'x',
      description: null,
      issuetype: { name: 'Bug' },
      status: { name: 'Done', statusCategory: { key: 'done' } },
      priority: { name: 'High' },
      assignee: PERSON,
      reporter: PERSON,
      labels: ['a'],
      created: TIME,
      updated: TIME,
      parent: { id: '2', key: 'SHOP-2', fields: { summary: 'y' } },
      customfield_1: 1,
    },
    around: (items) => {
      const issues = items.map((fields) => ({ id: '1', key: 'SHOP-1', fields }));
      return { ...issues[0], issues };
    },
  },
  'host-a': {
    id: '1',
    item: {
      number: 1,
      title: 'x',
      body: 'y',
      state: 'open',
      html_url: 'https://github.com/acme/shop/issues/1',
      user: PERSON,
      assignee: PERSON,
      labels: ['a', { name: 'b' }],
      type: { name: 'Bug' },
      created_at: TIME,
      updated_at: TIME,
      milestone: { title: 'm' },
      parent_issue_url: 'https://api.github.com/repos/acme/shop/issues/2',
      reactions: {},
    },
    around: ([item = {}]) => item as object,
  },
  'host-b': {
    id: '1',
    item: {
      'System.Title': 'x',
      'System.WorkItemType': 'Bug',
      'System.State': 'New',
      'System.Tags': 'a; b',
      'System.Description': '<p>y</p>',
      'System.AssignedTo': PERSON,
      'System.CreatedBy': PERSON,
      'System.CreatedDate': TIME,
      'System.ChangedDate': TIME,
      'Microsoft.VSTS.Common.Priority': 2,
      'Custom.Field': 'z',
    },
    around: (items) => ({
      id: 1,
      rev: 1,
      fields: items[0],
      workItems: [{ id: 1 }],
      value: [{ id: 1, fields: items[0], name: 'New', category: 'Proposed' }],
      relations: [{ rel: 'System.LinkTypes.Hierarchy-Reverse', url: 'https://a.example/2' }],
    }),
  },
};

describe.each(Object.keys(ANSWERS) as TrackerPlatform[])('%s', (platform) => {
  const { id, item, around } = ANSWERS[platform];
  const names = Object.keys(item);
  const at = { baseUrl: 'https://a.example', credentials: { type: 'token', token: 'x' } as const };
  const place = {
    platform,
    projectId: 'p',
    repositoryIdentifier: 'acme/shop',
    boards: [],
    issueType: 'Task',
    pagesUrl: null,
  };
  const trackerThatSays = (json: unknown) => {
    const exchange: ExchangeWithHost = async () => ({ isOk: true, value: { status: 200, headers: {}, json } });
    return trackerAt(
      exchange,
      createTrackerLimits(() => new Date()),
      place,
      at,
    );
  };

  test('its usual answer is shown', async () => {
    const answer = await trackerThatSays(around([item])).fetch(id);
    expect(WorkItem.safeParse(answer.isOk && answer.value).error).toBeUndefined();
  });

  test('any answer is shown as the interface promises, or is malformed', async () => {
    const oddItem = fc
      .tuple(fc.subarray(names), fc.infiniteStream(fc.jsonValue({ maxDepth: 3 })))
      .map(([replaced, values]) => {
        const odd = { ...item };
        for (const name of replaced) odd[name] = values.next().value;
        return odd;
      });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          oddItem.map((odd) => around([odd])),
          fc.jsonValue(),
        ),
        async (json) => {
          const tracker = trackerThatSays(json);
          const fetched = await tracker.fetch(id);
          if (fetched.isOk) expect(WorkItem.safeParse(fetched.value).error).toBeUndefined();
          else expect(['malformed', 'not_found']).toContain(fetched.kind);
          const listed = await tracker.list({ maxResults: 5 });
          if (listed.isOk)
            for (const each of listed.value) expect(WorkItemSummary.safeParse(each).error).toBeUndefined();
          else expect(listed.kind).toBe('malformed');
        },
      ),
      propertyRuns(100, 300),
    );
  });
});
