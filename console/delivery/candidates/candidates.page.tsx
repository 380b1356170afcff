import type { ReleaseCandidate } from '@quayside/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { useAddress } from '../../kernel/data/address.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { Checkbox, SelectField, TextField } from '../../kernel/parts/fields.tsx';
import { Empty, Failed, Filters, Loading, Page } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { domainsQuery } from '../where/where.queries.ts';
import { candidatesQuery } from './candidates.queries.ts';
import { toneOfStatus } from './why-rules.ts';

const SORTS = ['-createdAt', 'createdAt', '-updatedAt', 'releaseName'] as const;

/** The release candidates, newest first. */
export function CandidatesPage() {
  const [{ project, q, domain, status, branch, sort, finalized }] = useAddress();
  const listed = useInfiniteQuery(
    candidatesQuery({
      ...(project && { repositoryIdentifier: project }),
      ...(domain && { domain }),
      ...(status && { status }),
      ...(useDeferredValue(branch?.trim()) && { branch: branch?.trim() }),
      ...(useDeferredValue(q?.trim()) && { q: q?.trim() }),
      ...(finalized === 'true' && { includeFinalized: true }),
      sort: SORTS.find((each) => each === sort) ?? '-createdAt',
    }),
  );
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = listed;
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  const isFiltered = Boolean(q || domain || status || branch);
  return (
    <Page title={t.candidates.title} asked={[listed]}>
      <CandidateFiltersRow />
      {error && <Failed error={error} onAgain={() => void refetch()} isAsking={isFetching} />}
      {!data && !error && <Loading rows={8} />}
      {data && items.length === 0 && <NoCandidates isFiltered={isFiltered} />}
      {items.length > 0 && (
        <Table
          caption={t.candidates.title}
          columns={project ? COLUMNS : [...COLUMNS.slice(0, 1), PROJECT, ...COLUMNS.slice(1)]}
          rows={items}
          keyOf={({ id }) => id}
        />
      )}
      {hasNextPage && (
        <p style={{ marginTop: '0.75rem' }}>
          <Button onClick={() => void fetchNextPage()} isActing={isFetchingNextPage}>
            {t.parts.more}
          </Button>
        </p>
      )}
    </Page>
  );
}

const SHA_SHOWN = 7;

const PROJECT: Column<ReleaseCandidate> = {
  name: t.candidates.project,
  cell: ({ repositoryIdentifier }) => repositoryIdentifier,
};

const COLUMNS: readonly Column<ReleaseCandidate>[] = [
  {
    name: t.candidates.release,
    cell: ({ id, releaseName, repositoryIdentifier }) => (
      <PageLink to={`/candidates/${id}`} search={{ project: repositoryIdentifier }}>
        {releaseName}
      </PageLink>
    ),
  },
  { name: t.candidates.domain, cell: ({ domain }) => domain },
  {
    name: t.candidates.status,
    cell: ({ status, hold }) => (
      <>
        <Status tone={toneOfStatus(status)}>{t.candidates.statuses[status] ?? status}</Status>{' '}
        {hold && (
          <Status tone="bad" title={hold.reason}>
            {t.candidates.held}
          </Status>
        )}
      </>
    ),
  },
  { name: t.candidates.branch, cell: ({ branch }) => branch ?? t.parts.none },
  { name: t.candidates.commit, cell: ({ commitSha }) => <code>{commitSha.slice(0, SHA_SHOWN)}</code>, isNarrow: true },
  {
    name: t.candidates.packages,
    cell: ({ value }) => Object.keys(value.artifacts ?? {}).length,
    isNumber: true,
  },
  {
    name: t.candidates.created,
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time at={createdAt} /> {t.candidates.by(createdBy)}
      </>
    ),
  },
];

function CandidateFiltersRow() {
  const [{ project = '', q = '', domain = '', status = '', branch = '', sort = '-createdAt', finalized }, change] =
    useAddress();
  const { data: domains = [] } = useQuery({ ...domainsQuery(project), enabled: project !== '' });
  const all = [...new Set([...domains, ...(domain ? [domain] : [])])];
  return (
    <Filters>
      <TextField
        label={t.candidates.q}
        type="search"
        value={q}
        onValue={(value) => change({ q: value || undefined })}
        maxLength={255}
      />
      {all.length > 0 && (
        <SelectField
          label={t.candidates.domain}
          value={domain}
          onValue={(value) => change({ domain: value || undefined })}
          options={[{ value: '', label: t.candidates.allDomains }, ...all.map((value) => ({ value, label: value }))]}
        />
      )}
      <TextField
        label={t.candidates.branch}
        value={branch}
        onValue={(value) => change({ branch: value || undefined })}
        maxLength={255}
      />
      <SelectField
        label={t.candidates.status}
        value={status}
        onValue={(value) => change({ status: value || undefined })}
        options={[
          { value: '', label: t.candidates.allStatuses },
          ...Object.entries(t.candidates.statuses).map(([value, label]) => ({ value, label })),
        ]}
      />
      <SelectField
        label={t.candidates.sort}
        value={sort}
        onValue={(value) => change({ sort: value === '-createdAt' ? undefined : value })}
        options={SORTS.map((value) => ({ value, label: t.candidates.sorts[value] }))}
      />
      <Checkbox
        label={t.candidates.withFinalized}
        isChecked={finalized === 'true'}
        onChecked={(isChecked) => change({ finalized: isChecked ? 'true' : undefined })}
      />
    </Filters>
  );
}

const NoCandidates = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={t.candidates.noMatch} />
  ) : (
    <Empty title={t.candidates.empty}>
      <p>{t.candidates.emptyHint}</p>
      <code>{t.candidates.emptyCommand}</code>
    </Empty>
  );
