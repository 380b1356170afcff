import type { TimelineItem } from '@quayside/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../kernel/parts/button.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { Timeline } from '../../kernel/parts/timeline.tsx';
import { t } from '../../messages/messages.ts';
import { isRunId } from '../../delivery/where/matrix-rules.ts';
import { environmentTimelineQuery } from './environments.queries.ts';

const words = t.environments;

/** What happened in an environment, the latest first. */
export function EnvironmentHistory({ id }: { id: string }) {
  const timeline = useInfiniteQuery(environmentTimelineQuery(id));
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = timeline;
  return (
    <Section title={words.history}>
      <Answered query={timeline}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <p>{words.historyNone}</p>;
          return (
            <Timeline
              items={items.map((item, index) => ({
                key: `${item.at} ${item.type} ${index}`,
                tone: toneOf(item),
                at: <Time at={item.at} />,
                title: <Title item={item} />,
                detail: item.detail,
              }))}
            />
          );
        }}
      </Answered>
      {hasNextPage && (
        <div>
          <Button onClick={() => void fetchNextPage()} isActing={isFetchingNextPage}>
            {t.parts.more}
          </Button>
        </div>
      )}
    </Section>
  );
}

function Title({ item: { type, status, releaseName, domain, executionId, taskType, by } }: { item: TimelineItem }) {
  const what = [releaseName, domain && `(${domain})`].filter(Boolean).join(' ');
  return (
    <>
      <strong>{words.types[type]}</strong> {status && <>{status} </>}
      {isRunId(executionId ?? undefined) ? (
        <PageLink to={`/runs/${executionId}`}>{what || taskType}</PageLink>
      ) : (
        what || taskType
      )}
      {by && <small> {by}</small>}
    </>
  );
}

const FAILED = /fail|reject|abort|rolled|timed/i;
const DONE = /success|succeed|completed|approved/i;

const toneOf = ({ type, status }: TimelineItem) => {
  if (FAILED.test(status ?? '') || FAILED.test(type)) return 'bad';
  return DONE.test(status ?? '') ? 'good' : 'idle';
};
