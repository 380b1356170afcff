import { createRequire } from 'node:module';
import type { HostCredentials } from '../../../../domain/projects/integrations/integration-rules.ts';
import { gitHost, hostCredentials } from '../../../simulators/git-hosts.ts';
import type { Json } from '../../../support/client.ts';
import { failureOf, testTrackers, valueOf } from '../../../support/work-trackers.ts';

/** Bodies of hooks as GitHub sent them, some of whose issues are pull requests; a few have no state, unlike in its REST interface. */
const EXAMPLES = createRequire(import.meta.url)('@octokit/webhooks-examples') as { name: string; examples: Json[] }[];
const ISSUES = EXAMPLES.filter(({ name }) => name === 'issues' || name === 'issue_comment')
  .flatMap(({ name, examples }) =>
    examples.map(({ action, issue }, index): [string, Json] => [`${name} ${action} ${index}`, issue]),
  )
  .filter(([, { state }]) => state !== undefined);

test('GitHub has examples of many actions', () => {
  expect(ISSUES.length).toBeGreaterThan(30);
});

test.each(ISSUES)('the issue of %s is shown', async (_, issue) => {
  const host = await gitHost('host-a');
  const trackers = testTrackers();
  const tracker = trackers.of('host-a', { baseUrl: host.url, credentials: hostCredentials as HostCredentials });
  try {
    host.failNext({ status: 200, body: issue });
    const answer = await tracker.fetch(String(issue.number));
    if (issue.pull_request) {
      expect(failureOf(answer).kind).toBe('not_found');
      return;
    }
    const shown = valueOf(answer);
    expect(shown).toMatchObject({
      id: String(issue.number),
      title: issue.title,
      status: issue.state,
      description: issue.body === '' ? null : issue.body,
      url: issue.html_url,
      labels: issue.labels.map(({ name }: Json) => name),
      reporter: { name: issue.user.login },
      createdAt: new Date(issue.created_at).toISOString(),
      isClosed: issue.state === 'closed',
    });
    expect(Object.values(shown.customFields).every((value) => typeof value !== 'object' || Array.isArray(value))).toBe(
      true,
    );
  } finally {
    await Promise.all([host.close(), trackers.close()]);
  }
});
