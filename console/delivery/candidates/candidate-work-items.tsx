import type { ReleaseCandidate } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { t } from '../../messages/messages.ts';
import { Part } from '../changes/changelog-view.tsx';
import styles from './candidates.module.css';
import { workItemPlacesQuery } from './candidates.queries.ts';
import { shareOf } from './work-item-rules.ts';

const ASKED_MAX = 10;

interface CandidateWorkItemsProps {
  candidate: Pick<ReleaseCandidate, 'id' | 'repositoryIdentifier'>;
  keys: readonly string[];
}

/** Whether a candidate has its work items whole, and where else they belong. */
export function CandidateWorkItems({ candidate, keys }: CandidateWorkItemsProps) {
  if (keys.length === 0) return null;
  return (
    <Part title={t.candidates.workItems}>
      <p className={styles.soft}>
        {t.candidates.workItemsHint} {keys.length > ASKED_MAX && t.candidates.askedFirst(ASKED_MAX)}
      </p>
      <ul className={styles.shares}>
        {keys.slice(0, ASKED_MAX).map((key) => (
          <WorkItemShare key={key} candidate={candidate} workItem={key} />
        ))}
      </ul>
    </Part>
  );
}

interface WorkItemShareProps {
  candidate: CandidateWorkItemsProps['candidate'];
  workItem: string;
}

function WorkItemShare({ candidate, workItem }: WorkItemShareProps) {
  const { data, error } = useQuery(workItemPlacesQuery(candidate.repositoryIdentifier, workItem));
  const share = data && shareOf(data, candidate.id);
  return (
    <li>
      <PageLink to={`/work-items/${encodeURIComponent(workItem)}`}>{workItem}</PageLink>
      {share ? (
        <>
          <Status tone={share.tone}>
            {share.presence === 'all' && t.candidates.whole}
            {share.presence === 'some' && t.candidates.part(share.present, share.total)}
            {share.presence === 'none' && t.candidates.none}
            {share.presence === 'unknown' && t.candidates.unknown}
          </Status>
          {share.otherDomains.length > 0 && <small>{t.candidates.alsoIn(share.otherDomains.join(', '))}</small>}
        </>
      ) : (
        <small>{error ? t.candidates.unknown : t.parts.loading}</small>
      )}
    </li>
  );
}
