import type { Environment } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { useAddress } from '../../kernel/data/address.ts';
import { Answered, Empty, Page } from '../../kernel/parts/page.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { OfProject } from '../../kernel/parts/project-choice.tsx';
import { t } from '../../messages/messages.ts';
import { environmentsQuery } from '../gates/gates.queries.ts';
import { type ReleaseAction, ReleaseActionDialog } from '../release-actions/release-action.tsx';
import { CellMenu } from './cell-menu.tsx';
import { MatrixGrid } from './matrix-grid.tsx';
import {
  columnsToAsk,
  type EnvironmentColumn,
  listText,
  marksOf,
  type Row,
  shownColumns,
  textsOf,
} from './matrix-rules.ts';
import { type Lanes, useLanes } from './use-lanes.ts';
import { WhereFilters } from './where-filters.tsx';
import { WherePath } from './where-path.tsx';
import { domainsQuery, matrixQuery, openApprovalsQuery } from './where.queries.ts';

/** Where is what, and where can it go? */
export const WherePage = () => <OfProject>{(project) => <OfEnvironments key={project} project={project} />}</OfProject>;

function OfEnvironments({ project }: { project: string }) {
  const environments = useQuery(environmentsQuery(project));
  if (environments.data === undefined || environments.data.length === 0)
    return (
      <Page title={t.where.title} asked={[environments]}>
        <Answered query={environments} rows={10}>
          {() => (
            <Empty title={t.where.noEnvironments}>
              <p>{t.where.noEnvironmentsHint}</p>
              <code>{t.where.noEnvironmentsCommand(project)}</code>
            </Empty>
          )}
        </Answered>
      </Page>
    );
  return <Where project={project} environments={environments.data} />;
}

type Filters = ReturnType<typeof useWhereFilters>;

/** What the address narrows the matrix to. */
function useWhereFilters(project: string, environments: readonly Environment[]) {
  const [{ q, domain, superseded, envs, fold, release, in: ofDomain }] = useAddress();
  const chosenNames = textsOf(envs);
  return {
    domain,
    chosenNames,
    folded: textsOf(fold),
    isFiltered: Boolean(q || domain),
    isChosen: (row: Row) => row.releaseName === release && row.domain === ofDomain,
    release: release !== undefined && ofDomain !== undefined ? { name: release, domain: ofDomain } : undefined,
    asked: {
      repositoryIdentifier: project,
      q: useDeferredValue(q?.trim() || undefined),
      includeSuperseded: superseded === 'true',
      environments: columnsToAsk(environments, chosenNames),
    },
  };
}

function Where({ project, environments }: { project: string; environments: readonly Environment[] }) {
  const [, change] = useAddress();
  const [acting, setActing] = useState<{ row: Row; action: ReleaseAction }>();
  const filters = useWhereFilters(project, environments);
  const { overview, lanes, onScreen, asked } = useLanes(filters.asked, filters.domain, filters.folded);
  const { data: domains = [] } = useQuery(domainsQuery(project));
  const listed = lanes.flatMap(({ rows }) => rows.filter(filters.isChosen))[0];
  // What the filters hide is asked for by itself, so that the way of the chosen release is always shown.
  const alone = useQuery({
    ...matrixQuery(
      { ...filters.asked, q: filters.release?.name, includeSuperseded: true },
      { domain: filters.release?.domain },
    ),
    enabled: filters.release !== undefined && listed === undefined,
  });
  const chosen = filters.release && (listed ?? alone.data?.rows.find(filters.isChosen));
  const unchoose = () => change({ release: undefined, in: undefined });
  return (
    <Page title={t.where.title} asked={asked}>
      <WhereFilters domains={domains} environments={environments} />
      <Answered query={overview} rows={10}>
        {({ columns, total }) => (
          <>
            {chosen && (
              <WherePath
                row={chosen}
                columns={columns}
                policies={environments}
                onRequest={({ name: environmentName, environmentId }) =>
                  setActing({ row: chosen, action: { kind: 'request', environmentName, environmentId } })
                }
                onClose={unchoose}
              />
            )}
            {filters.release && !chosen && alone.data && <Note>{t.where.chosenMissing}</Note>}
            {total === 0 ? (
              <NoReleases project={project} isFiltered={filters.isFiltered} />
            ) : (
              <Matrix
                project={project}
                environments={environments}
                filters={filters}
                columns={columns}
                lanes={lanes}
                chosen={chosen}
                isBusy={overview.isPlaceholderData}
                onScreen={onScreen}
                onAct={(row, action) => setActing({ row, action })}
              />
            )}
          </>
        )}
      </Answered>
      {acting && (
        <ReleaseActionDialog
          action={acting.action}
          release={{ ...acting.row, repositoryIdentifier: project }}
          onClose={() => setActing(undefined)}
        />
      )}
    </Page>
  );
}

interface MatrixProps extends Pick<Lanes, 'lanes' | 'onScreen'> {
  project: string;
  environments: readonly Environment[];
  filters: Filters;
  columns: readonly EnvironmentColumn[];
  chosen: Row | undefined;
  isBusy: boolean;
  onAct: (row: Row, action: ReleaseAction) => void;
}

function Matrix({ project, environments, filters, columns, chosen, onAct, ...given }: MatrixProps) {
  const [, change] = useAddress();
  const [open, setOpen] = useState<{ row: Row; index: number; cell: HTMLElement }>();
  const approvals = useQuery(openApprovalsQuery(project));
  const { chosenNames, folded, asked } = filters;
  const marks = chosen && marksOf(chosen.cells, columns, environments);
  const indexes = shownColumns(columns, chosenNames, marks);
  const names = indexes.map((index) => columns[index]?.name ?? '');
  const kept = chosenNames.length > 0 ? names.filter((name) => !chosenNames.includes(name)) : [];
  const active = environments.filter(({ isActive }) => isActive).length;
  return (
    <>
      {asked.environments && chosenNames.length === 0 && <Note>{t.where.tooMany(columns.length, active)}</Note>}
      {chosen && kept.length > 0 && <Note>{t.where.kept(kept.join(', '))}</Note>}
      <MatrixGrid
        {...given}
        repositoryIdentifier={project}
        columns={columns}
        indexes={indexes}
        policies={environments}
        chosen={chosen}
        waiting={approvals.data?.items ?? []}
        onChoose={(row) =>
          change(
            filters.isChosen(row)
              ? { release: undefined, in: undefined }
              : { release: row.releaseName, in: row.domain },
          )
        }
        onFold={(name) =>
          change({
            fold: listText(folded.includes(name) ? folded.filter((each) => each !== name) : [...folded, name]),
          })
        }
        onOpen={(row, index, cell) => setOpen({ row, index, cell })}
      />
      {open && (
        <CellMenu
          key={`${open.row.candidateId} ${open.index}`}
          {...open}
          columns={columns}
          policies={environments}
          onAct={(action) => onAct(open.row, action)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

const NoReleases = ({ project, isFiltered }: { project: string; isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={t.where.noMatch} />
  ) : (
    <Empty title={t.where.empty}>
      <p>{t.where.emptyHint}</p>
      <code>{t.where.emptyCommand(project)}</code>
    </Empty>
  );
