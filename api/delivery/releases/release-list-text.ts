import type { z } from 'zod';
import { memoized } from '../../../domain/kernel/caches/memoized.ts';
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
 * value therefore, is written once. All is put together once: each part of the text that is joined by itself would be
 * copied several times.
 */
export function releaseListText({ releases, ...list }: z.input<typeof Releases>): Buffer {
  const changesText = memoized(
    (changes: Changes) => JSON.stringify(EnvironmentChanges.parse(changes)).slice(1),
    ({ changesFromPrevious }) => changesFromPrevious,
  );
  const parts = [upTo(ListFacts.parse(list), 'releases')];
  for (const [place, { environments, ...facts }] of releases.entries()) {
    parts.push(place > 0 ? ',' : '', upTo(ReleaseFacts.parse(facts), 'environments'));
    for (const [at, { changesFromPrevious, releaseChangelog, ...own }] of environments.entries()) {
      const text = JSON.stringify(EnvironmentFacts.parse(own)).slice(0, -1);
      parts.push(at > 0 ? ',' : '', text, ',', changesText({ changesFromPrevious, releaseChangelog }));
    }
    parts.push(']}');
  }
  parts.push(']}');
  return Buffer.from(parts.join(''));
}

/** The JSON of an object up to the items of one more member, which is a list. The object has others. */
const upTo = (members: object, name: string): string =>
  `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(name)}:[`;
