import type { ReleaseMatrix } from '@quayside/client';
import { type UseQueryResult, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { type Lane, laneOfPages, lanesOfPage } from './lane-rules.ts';
import { domainsQuery, type MatrixFilters, matrixQuery } from './where.queries.ts';

export interface Lanes {
  overview: UseQueryResult<ReleaseMatrix>;
  lanes: readonly Lane[];
  /** Tells which pages are on the screen, which are kept up to date, and of which lane one more is to be loaded. */
  onScreen: (pages: ReadonlySet<string>, more: Lane | undefined) => void;
  asked: readonly UseQueryResult[];
}

/** Names a page of a lane to `onScreen`. */
export const pageKey = (domain: string, page: number): string => `${page} ${domain}`;

const NONE: ReadonlySet<string> = new Set();

/**
 * The releases of a project by domain. Where all of them are on one page, that page is asked; else each lane has pages of its
 * own, so that what is loaded later stands below what is seen.
 */
export function useLanes(filters: MatrixFilters, domain: string | undefined, folded: readonly string[]): Lanes {
  const queries = useQueryClient();
  const overview = useQuery(matrixQuery(filters, { domain }));
  const domains = useQuery(domainsQuery(filters.repositoryIdentifier));
  const isWhole = overview.data !== undefined && overview.data.nextCursor === null;
  const [shown, setShown] = useState(NONE);
  const [wanted, setWanted] = useState<Record<string, number>>({});

  const names = domain === undefined ? (domains.data ?? []) : [domain];
  const chains = overview.data === undefined || isWhole ? [] : names.filter((name) => !folded.includes(name));
  const pages = chains.flatMap((name) => {
    const cursors: (string | undefined)[] = [undefined];
    for (let page = 1; page < (wanted[name] ?? 1); page++) {
      const before = matrixQuery(filters, { domain: name, cursor: cursors.at(-1) });
      const next = queries.getQueryData<ReleaseMatrix>(before.queryKey)?.nextCursor;
      if (!next) break;
      cursors.push(next);
    }
    return cursors.map((cursor, page) => ({ name, cursor, page }));
  });
  const isNew = (page: number, of: { domain: string; cursor: string | undefined }): boolean =>
    page > 0 && queries.getQueryData(matrixQuery(filters, of).queryKey) === undefined;
  const answers = useQueries({
    queries: pages.map(({ name, cursor, page }) => ({
      ...matrixQuery(filters, { domain: name, cursor }),
      // What is not on the screen stays as it is until it is seen again.
      enabled: shown.has(pageKey(name, page)) || isNew(page, { domain: name, cursor }),
    })),
  });

  const onScreen = useCallback((seen: ReadonlySet<string>, more: Lane | undefined) => {
    setShown((before) => (before.size === seen.size && [...seen].every((each) => before.has(each)) ? before : seen));
    if (more)
      setWanted((before) =>
        before[more.domain] === more.pages + 1 ? before : { ...before, [more.domain]: more.pages + 1 },
      );
  }, []);

  const lanes: readonly Lane[] = isWhole
    ? lanesOfPage(overview.data, names, folded)
    : names.map((name) => {
        const loaded = pages.flatMap((page, index) => (page.name === name ? [answers[index]?.data] : []));
        return laneOfPages(
          name,
          loaded.filter((each) => each !== undefined),
          folded.includes(name),
        );
      });
  return { overview, lanes: overview.data ? lanes : [], onScreen, asked: [overview, domains, ...answers] };
}
