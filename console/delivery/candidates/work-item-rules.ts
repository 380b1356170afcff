import type { WorkItemPlaces } from '@quayside/client';
import type { Tone } from '../../kernel/parts/tone.ts';

/** How much of a work item a candidate has, and which other domains it concerns. */
interface Share {
  presence: 'all' | 'some' | 'none' | 'unknown';
  tone: Tone;
  present: number;
  total: number;
  otherDomains: readonly string[];
}

const TONES = { all: 'good', some: 'wait', none: 'idle', unknown: 'idle' } as const;

/** The share of a candidate in a work item; one that is not named among its places has nothing that is known of. */
export function shareOf({ domains }: Pick<WorkItemPlaces, 'domains'>, candidateId: string): Share {
  const own = domains.find(({ candidates }) => candidates.some(({ id }) => id === candidateId));
  const { presence, present, total } = own?.candidates.find(({ id }) => id === candidateId) ?? {
    presence: 'unknown' as const,
    present: 0,
    total: 0,
  };
  const otherDomains = domains.filter((each) => each !== own).map(({ domain }) => domain);
  return { presence, tone: TONES[presence], present, total, otherDomains };
}
