import fc from 'fast-check';
import { readHook } from '../../../../domain/ci/builds/host-events-rules.ts';
import {
  afterReport,
  awaited,
  isInReview,
  type KnownPullRequest,
  type PullRequestNews,
  type PullRequestReport,
  withReviews,
} from '../../../../domain/code/pull-requests/pull-request-rules.ts';
import { HOSTS, type HostHook } from '../../../simulators/host-hooks.ts';
import {
  EXAMPLES,
  pullRequestHook,
  reviewHook,
  type SimulatedPullRequest,
} from '../../../simulators/pull-request-hooks.ts';
import type { Json } from '../../../support/client.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const START = Date.parse('2026-11-20T09:00:00Z');
const after = (seconds: number) => new Date(START + seconds * 1_000);
const REPOSITORY = { 'host-a': 'acme/shop', 'host-b': 'acme/sales/shop', 'host-c': 'group/sub/shop' } as const;

const newsOf = ({ host, headers, body }: HostHook): PullRequestNews => {
  const { pullRequest } = readHook(host, body, headers['x-github-event'] ?? '');
  if (!pullRequest) throw new Error('the hook tells nothing');
  return pullRequest;
};
const endOf = (news: readonly PullRequestNews[]): KnownPullRequest | undefined => {
  let known: KnownPullRequest | undefined;
  for (const { report, given } of news) {
    const next = afterReport(report, false, known);
    known = { ...next, reviews: withReviews(next.reviews, given) };
  }
  return known;
};

const states = fc.constantFrom<NonNullable<SimulatedPullRequest['state']>>('open', 'open', 'closed', 'merged');
const people = fc.uniqueArray(fc.constantFrom('Erin', 'frank', 'gus'), { maxLength: 2 });
const changes = fc.record({
  // Few different seconds: hooks of the same one are the difficult case.
  second: fc.integer({ min: 1, max: 4 }),
  state: states,
  isDraft: fc.boolean(),
  title: fc.constantFrom('One', 'Two'),
  requested: people,
  review: fc.option(fc.constantFrom('approved', 'changes_requested', 'commented', 'dismissed'), { nil: undefined }),
  actor: fc.constantFrom('dana', 'erin'),
});

test.each(HOSTS)('%s: hooks in any order, and repeated tenfold, come to the same', (host) => {
  fc.assert(
    fc.property(
      fc.array(changes, { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (all, random) => {
        const news = all.map(({ second, review, actor, ...change }) => {
          const request = { repository: REPOSITORY[host], number: 7, openedAt: after(0), at: after(second), ...change };
          const hook =
            host === 'host-a' && review
              ? reviewHook(request, { by: 'erin', state: review, at: after(second) })
              : pullRequestHook(host, request, actor);
          return newsOf(hook);
        });
        const tenfold = Array.from({ length: 10 }, () => news).flat();
        const shuffled = tenfold
          .map((each) => ({ each, place: random.next().value }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ each }) => each);
        expect(endOf(shuffled)).toEqual(endOf(news));
      },
    ),
    propertyRuns(60, 200),
  );
});

test('every published hook of host-a about a pull request is read', () => {
  const examples = EXAMPLES.filter(({ name }) => name === 'pull_request' || name === 'pull_request_review').flatMap(
    ({ name, examples: bodies }) => bodies.map((body) => ({ name, body })),
  );
  expect(examples.length).toBeGreaterThan(30);
  for (const { name, body } of examples) {
    const { pullRequest, repositoryIdentifier, occurredAt } = readHook('host-a', body, name);
    expect(repositoryIdentifier).toBe(body.repository.full_name);
    expect(pullRequest?.report).toMatchObject({
      number: body.pull_request.number,
      title: body.pull_request.title,
      author: body.pull_request.user.login,
      branch: body.pull_request.head.ref,
      state: body.pull_request.merged_at ? 'merged' : body.pull_request.state,
    });
    expect(occurredAt).toBe(new Date(body.pull_request.updated_at).toISOString());
  }
});

test.each(HOSTS)('%s: all that is shown of a pull request is read from its hook', (host) => {
  const hook = pullRequestHook(host, {
    repository: REPOSITORY[host],
    number: 42,
    title: 'Größer',
    author: 'Dana',
    state: 'merged',
    branch: 'feature/größer',
    headSha: 'a'.repeat(40),
    mergeCommitSha: 'b'.repeat(40),
    labels: ['zeta', 'bug'],
    requested: ['Erin'],
    reviewed: { frank: 'changes_requested' },
    openedAt: after(0),
    at: after(60),
  });
  const reads = readHook(host, hook.body, hook.headers['x-github-event'] ?? '');
  expect(reads).toMatchObject({ repositoryIdentifier: REPOSITORY[host], isPush: false, events: [] });
  const { report } = newsOf(hook);
  expect(report).toEqual({
    number: 42,
    title: 'Größer',
    url: expect.stringMatching(/^https:\/\/[^@]+\/42$/),
    state: 'merged',
    isDraft: false,
    author: 'Dana',
    authorAvatarUrl: expect.stringMatching(/^https:/),
    branch: 'feature/größer',
    baseBranch: 'main',
    headSha: 'a'.repeat(40),
    baseSha: host === 'host-a' ? expect.stringMatching(/^[0-9a-f]{40}$/) : null,
    mergeCommitSha: 'b'.repeat(40),
    labels: ['bug', 'zeta'].map((key) =>
      host === 'host-b' ? { key, description: null, color: null } : { key, description: 'Something', color: '#d73a4a' },
    ),
    requested: { users: ['Erin'], teams: [] },
    reviews: host === 'host-a' ? null : { frank: { state: 'changes_requested', at: null } },
    openedAt: after(0).toISOString(),
    endedAt: after(60).toISOString(),
    hostTime: after(60).toISOString(),
    changedAt: after(60).toISOString(),
  } satisfies PullRequestReport);
});

test('hooks of host-c by others than the author leave the author as they are', () => {
  const request = { repository: REPOSITORY['host-c'], number: 7, openedAt: after(0) };
  const byOther = newsOf(pullRequestHook('host-c', { ...request, at: after(9) }, 'erin'));
  const byAuthor = newsOf(pullRequestHook('host-c', { ...request, at: after(1) }));
  expect(byOther.report.author).toBeNull();
  for (const order of [
    [byOther, byAuthor],
    [byAuthor, byOther],
  ])
    expect(endOf(order)).toMatchObject({ author: 'dana', hostTime: after(9).toISOString() });
});

test('a part of a pull request, as reviews of old servers carry it, replaces nothing', () => {
  const request = { repository: REPOSITORY['host-a'], number: 7, isDraft: true, openedAt: after(0), at: after(1) };
  const hook = reviewHook({ ...request, at: after(5) }, { by: 'erin', state: 'approved', at: after(5) });
  delete (hook.body as Json).pull_request.draft;
  const [opened, reviewed] = [newsOf(pullRequestHook('host-a', request)), newsOf(hook)];
  for (const order of [
    [opened, reviewed],
    [reviewed, opened],
  ])
    expect(endOf(order)).toMatchObject({ isDraft: true, reviews: { erin: { state: 'approved' } } });
});

test('the list of a host counts before a hook of the same time, whatever it says', () => {
  const request = { repository: REPOSITORY['host-a'], number: 7, openedAt: after(0), at: after(5) };
  const merged = afterReport(
    newsOf(pullRequestHook('host-a', { ...request, state: 'merged' })).report,
    false,
    undefined,
  );
  const { report: open } = newsOf(pullRequestHook('host-a', request));
  expect(afterReport(open, true, merged)).toMatchObject({ state: 'open', isFromList: true });
  const { report: earlier } = newsOf(pullRequestHook('host-a', { ...request, at: after(4) }));
  expect(afterReport(earlier, true, merged)).toMatchObject({ state: 'merged', isFromList: false });
});

test.each([
  ['nobody is asked', {}, false, []],
  ['somebody is asked', { requested: ['Erin'] }, true, ['erin']],
  ['it is a draft', { requested: ['Erin'], isDraft: true }, false, ['erin']],
  ['it was reviewed', { reviewed: { frank: 'approved' } }, true, []],
  ['it is merged', { requested: ['Erin'], state: 'merged' }, false, []],
] as const)('in review and awaited when %s', (_, change, isReviewed, names) => {
  const request = { repository: REPOSITORY['host-b'], number: 7, ...change } as SimulatedPullRequest;
  const known = endOf([newsOf(pullRequestHook('host-b', request))]) as KnownPullRequest;
  expect([isInReview(known), awaited(known, false)]).toEqual([isReviewed, names]);
});

test('who has reviewed is awaited again only where the host says so', () => {
  const request = { repository: REPOSITORY['host-a'], number: 7, requested: ['Erin'], openedAt: after(0) };
  const known = endOf([
    newsOf(reviewHook({ ...request, requested: [], at: after(1) }, { by: 'Erin', state: 'approved', at: after(1) })),
    newsOf(pullRequestHook('host-a', { ...request, at: after(2) })),
  ]) as KnownPullRequest;
  expect(awaited(known, true)).toEqual(['erin']);
  expect(awaited(known, false)).toEqual([]);
});

test.each([
  ['a comment after a decision', ['approved', 1], ['commented', 2], 'approved'],
  ['a later decision', ['changes_requested', 1], ['approved', 2], 'approved'],
  ['a dismissal, which has the time of the review', ['approved', 1], ['dismissed', 1], 'dismissed'],
  ['a decision after a dismissal', ['dismissed', 1], ['changes_requested', 2], 'changes_requested'],
] as const)('of reviews counts: %s', (_, first, second, expected) => {
  const reviews = [first, second].map(([state, at]) => ({ erin: { state, at: after(at).toISOString() } }));
  for (const order of [reviews, reviews.toReversed()])
    expect(
      order.reduce<ReturnType<typeof withReviews>>((known, more) => withReviews(known, more), {}).erin?.state,
    ).toBe(expected);
});

test.each([
  ['no number', { number: 'seven' }],
  ['a number beyond all', { number: 2_147_483_648 }],
  ['no times', { updated_at: 'tomorrow' }],
  ['no branch', { head: null }],
])('what is no pull request is not taken: %s', (_, change) => {
  const { body } = pullRequestHook('host-a', { repository: 'acme/shop', number: 7 });
  const pullRequest = { ...(body as Json).pull_request, ...change };
  expect(readHook('host-a', { ...body, pull_request: pullRequest }, 'pull_request').pullRequest).toBeNull();
});

test('hostile texts, and lists beyond all measure, are cut to what can be stored', () => {
  const { body } = pullRequestHook('host-a', { repository: 'acme/shop', number: 7 });
  const many = (make: (index: number) => Json) => Array.from({ length: 5_000 }, (_, index) => make(index));
  const pullRequest = {
    ...(body as Json).pull_request,
    title: `\0${'\u{1f600}'.repeat(2_000)}`,
    html_url: 'javascript:alert(1)',
    user: { login: '__proto__', avatar_url: 'data:text/html,x' },
    labels: many((index) => ({ name: `label ${index}`, color: 'url(https://example.com)' })),
    requested_reviewers: many((index) => ({ login: `user-${index}` })),
  };
  const review = { user: { login: '__proto__' }, state: 'approved', submitted_at: '2026-11-20T09:00:00Z' };
  const { pullRequest: news } = readHook(
    'host-a',
    { ...body, pull_request: pullRequest, review },
    'pull_request_review',
  );
  const report = news?.report as PullRequestReport;
  expect(report.title.length).toBeLessThanOrEqual(1_000);
  expect(report.title).not.toContain('\0');
  expect(report.title.isWellFormed()).toBe(true);
  expect(report).toMatchObject({ url: null, author: '__proto__', authorAvatarUrl: null });
  expect(report.labels).toHaveLength(100);
  expect(report.labels?.[0]?.color).toBeNull();
  expect(report.requested.users).toHaveLength(100);
  const known = endOf([news as PullRequestNews]);
  expect(Object.entries(known?.reviews ?? {})).toEqual([['__proto__', expect.objectContaining({ state: 'approved' })]]);
});
