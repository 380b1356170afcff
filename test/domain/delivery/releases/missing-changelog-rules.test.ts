import {
  type MirrorFacts,
  whyCommitIsUnknown,
} from '../../../../domain/delivery/releases/changelogs/missing-changelog-rules.ts';

const FETCHED: MirrorFacts = {
  hasRemote: true,
  lastTriedAt: '2026-01-05T09:00:00Z',
  isFetching: false,
  freshness: { fetchedAt: '2026-01-05T09:00:00Z', error: null },
};

test('an abbreviated commit may be ambiguous, a full one is not there', () => {
  expect(whyCommitIsUnknown('The commit abcdef12', FETCHED)).toEqual({
    reason: 'unknown_commit',
    message:
      'The commit abcdef12 is not in the repository: it was never pushed, history was rewritten, or its abbreviated id is ambiguous',
    lastTriedAt: FETCHED.lastTriedAt,
  });
  const sha = 'ab'.repeat(20);
  expect(whyCommitIsUnknown(`The commit ${sha} of core 1.0`, FETCHED).message).toBe(
    `The commit ${sha} of core 1.0 is not in the repository: it was never pushed, or history was rewritten`,
  );
});
