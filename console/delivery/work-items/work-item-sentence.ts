import { t } from '../../messages/messages.ts';
import { clockTime } from '../../kernel/parts/clock-rules.ts';
import type { WhereItIs } from './work-item-rules.ts';

/** "PROJ-12 is in UAT since 14:02, production lacks domain sales". */
export function sentenceOf(key: string, where: WhereItIs, now: number, timeZone?: string): string {
  const words = t.workItems.sentence;
  const { kind, environment, releaseName, lacks, unknownIn } = where;
  const first = {
    unknown: () => t.workItems.unknown(key),
    noDomain: () => words.hasNoDomain(key),
    nowhere: () => words.isNowhere(key),
    partly: () => words.isPartlyIn(key, environment?.name ?? ''),
    complete: () =>
      words.isIn(
        key,
        environment?.name ?? '',
        environment?.since ? clockTime(environment.since, now, { timeZone, timeStyle: 'short' }) : undefined,
      ),
  }[kind]();
  return [
    first,
    ...(releaseName === undefined ? [] : [words.isInCandidate(releaseName)]),
    ...(kind === 'nowhere'
      ? []
      : lacks.map(({ environment: name, domains }) =>
          domains.length === 0 ? words.lacks(name) : words.lacksDomains(name, domains),
        )),
    ...(unknownIn.length === 0 ? [] : [words.isUnknown(unknownIn)]),
  ].join(', ');
}
