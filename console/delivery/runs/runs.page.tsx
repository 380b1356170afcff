import type { FlowRun } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { t } from '../../messages/messages.ts';
import { useAddress } from '../../kernel/data/address.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { ShowNewer, useHeldRows } from '../../kernel/parts/held-rows.tsx';
import { Answered, Empty, Page } from '../../kernel/parts/page.tsx';
import { TabLinks } from '../../kernel/parts/tab-links.tsx';
import { RunFilters } from './run-filters.tsx';
import { RunTable } from './run-table.tsx';
import { RUN_STATUSES } from './run-rules.ts';
import { PAGE_ROWS, runCountsQuery, runsQuery } from './runs.queries.ts';
import styles from './runs.module.css';
import { SavedViews } from './saved-views.tsx';
import { filtersIn } from './saved-views-rules.ts';

const idOf = ({ id }: FlowRun): string => id;

/** What runs, what ran, and why it failed. */
export function RunsPage() {
  const [address] = useAddress();
  const filters = filtersIn(address);
  const page = Math.max(1, Math.trunc(Number(address.page)) || 1);
  const runs = useQuery(runsQuery(filters, page));
  return (
    <Page title={t.runs.title} asked={[runs]}>
      <SavedViews />
      <StatusTabs />
      <RunFilters />
      <Answered query={runs} rows={12}>
        {({ runs: found, totalCount, totalCountIsExact }) => (
          <>
            {found.length === 0 ? (
              <NoRuns isFiltered={Object.keys(filters).length > 0} />
            ) : (
              <Runs runs={found} place={JSON.stringify([filters, page])} />
            )}
            <Pages page={page} total={totalCount} isExact={totalCountIsExact} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Runs({ runs, place }: { runs: readonly FlowRun[]; place: string }) {
  const { list, rows, count, show } = useHeldRows(runs, idOf, place);
  return (
    <div ref={list}>
      <ShowNewer count={count} onShow={show} />
      <RunTable runs={rows} />
    </div>
  );
}

function StatusTabs() {
  const [address] = useAddress();
  const { data } = useQuery(runCountsQuery(filtersIn(address)));
  const counts = data?.counts;
  const all = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <TabLinks
      name={t.runs.statusesName}
      tabs={[
        { label: t.runs.all, count: all, search: { ...address, status: undefined, page: undefined } },
        ...RUN_STATUSES.map((status) => ({
          label: t.runs.statuses[status],
          count: counts && (counts[status] ?? 0),
          search: { ...address, status, page: undefined },
        })),
      ]}
    />
  );
}

const NoRuns = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={t.runs.empty}>{t.runs.emptyHint}</Empty>
  ) : (
    <Empty title={t.runs.emptyAll}>
      <p>{t.runs.emptyAllHint}</p>
      <code>{t.runs.command}</code>
    </Empty>
  );

function Pages({ page, total, isExact }: { page: number; total: number; isExact: boolean }) {
  const [, change] = useAddress();
  const go = (next: number) => {
    change({ page: next > 1 ? String(next) : undefined });
    scrollTo(0, 0);
  };
  const hasMore = !isExact || page * PAGE_ROWS < total;
  if (total === 0 && page === 1) return null;
  return (
    <p className={styles.pages}>
      <span>{t.runs.total(total, isExact)}</span>
      {page > 1 && <Button onClick={() => go(page - 1)}>{t.runs.newer}</Button>}
      {(page > 1 || hasMore) && <span>{t.runs.page(page)}</span>}
      {hasMore && <Button onClick={() => go(page + 1)}>{t.runs.older}</Button>}
    </p>
  );
}
