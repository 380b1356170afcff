import type { z } from 'zod';
import { memoized } from '../../../domain/kernel/caches/memoized.ts';
import { withMember } from '../../http/replies.ts';
import { Environment, Release, Releases } from './releases.schemas.ts';

type EnvironmentView = z.input<typeof Environment>;
type Changes = Pick<EnvironmentView, 'changesFromPrevious' | 'releaseChangelog'>;

const ListFacts = Releases.omit({ releases: true });
const ReleaseFacts = Release.omit({ environments: true });
const ENVIRONMENT_CHANGES = { changesFromPrevious: true, releaseChangelog: true } as const;
const EnvironmentFacts = Environment.omit(ENVIRONMENT_CHANGES);
const EnvironmentChanges = Environment.pick(ENVIRONMENT_CHANGES);

/**
 * A list of releases as JSON. Changes make up most of it; what changed alike in several environments, and is the same
 * value therefore, is written once.
 */
export function releaseListText({ releases, ...list }: z.input<typeof Releases>): string {
  const changesText = memoized(
    (changes: Changes) => JSON.stringify(EnvironmentChanges.parse(changes)),
    ({ changesFromPrevious }) => changesFromPrevious,
  );
  const environmentText = ({ changesFromPrevious, releaseChangelog, ...facts }: EnvironmentView): string => {
    const changes = changesText({ changesFromPrevious, releaseChangelog });
    return `${JSON.stringify(EnvironmentFacts.parse(facts)).slice(0, -1)},${changes.slice(1)}`;
  };
  const releaseText = ({ environments, ...facts }: z.input<typeof Release>): string =>
    withMember(ReleaseFacts.parse(facts), 'environments', `[${environments.map(environmentText).join(',')}]`);
  return withMember(ListFacts.parse(list), 'releases', `[${releases.map(releaseText).join(',')}]`);
}
