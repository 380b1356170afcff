import type { TimelineItem } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../kernel/parts/button.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { isRunId } from '../where/matrix-rules.ts';
import styles from './candidates.module.css';
import { timelineQuery } from './candidates.queries.ts';

export const TIMELINE_SHOWN = 50;
const TIMELINE_MAX = 100;

/** What happened to a candidate, newest first as the service tells it. */
export function CandidateTimeline({ id }: { id: string }) {
  const [limit, setLimit] = useState(TIMELINE_SHOWN);
  const timeline = useQuery(timelineQuery(id, limit));
  return (
    <Section title={t.candidates.timeline}>
      <Answered query={timeline}>
        {({ items, isComplete, nextCursor }) => (
          <>
            {items.length === 0 && <p>{t.candidates.timelineNone}</p>}
            <ol className={styles.timeline}>
              {items.map((item) => (
                <Event
                  key={`${item.at} ${item.type} ${item.executionId} ${item.approvalId} ${item.environmentId}`}
                  item={item}
                />
              ))}
            </ol>
            {nextCursor !== null && limit < TIMELINE_MAX && (
              <div>
                <Button onClick={() => setLimit(TIMELINE_MAX)} isActing={timeline.isFetching}>
                  {t.parts.more}
                </Button>
              </div>
            )}
            {!isComplete && nextCursor === null && <p>{t.candidates.incomplete}</p>}
          </>
        )}
      </Answered>
    </Section>
  );
}

function Event({ item }: { item: TimelineItem }) {
  const { at, type, by, status, environmentName, executionId, taskType, detail } = item;
  return (
    <li>
      <Time at={at} />
      <span>
        <strong>{t.candidates.events[type]}</strong>
        {status && <> · {t.candidates.statuses[status] ?? status}</>}
        {environmentName && <> · {environmentName}</>}
        {isRunId(executionId ?? undefined) && (
          <>
            {' · '}
            <PageLink to={`/runs/${executionId}`}>{taskType ?? t.where.act.run}</PageLink>
          </>
        )}
        <small>
          {by && t.candidates.by(by)}
          {by && detail && ' · '}
          {detail}
        </small>
      </span>
    </li>
  );
}
