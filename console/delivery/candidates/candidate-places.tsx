import type { Environment, ReleaseMatrix } from '@quayside/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { useCan } from '../../kernel/data/me.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Table } from '../../kernel/parts/table.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import type { ReleaseAction } from '../release-actions/release-action.tsx';
import { isRunId, marksOf, type Row, TONES } from '../where/matrix-rules.ts';

interface CandidatePlacesProps {
  matrix: UseQueryResult<ReleaseMatrix>;
  row: Row | undefined;
  environments: UseQueryResult<readonly Environment[]>;
  /** The project has more environments than are asked for. */
  isCut: boolean;
  isFinal: boolean;
  onAct: (action: ReleaseAction) => void;
}

/** Where a candidate is, environment by environment, and where it can go. */
export const CandidatePlaces = ({ matrix, row, environments, isCut, isFinal, onAct }: CandidatePlacesProps) => (
  <Section title={t.candidates.where}>
    <Answered query={environments} rows={4}>
      {(policies) => (
        <Answered query={matrix} rows={4}>
          {({ columns }) => {
            if (columns.length === 0) return <p>{t.candidates.whereNone}</p>;
            if (!row) return <p>{t.candidates.whereNotFound}</p>;
            const marks = marksOf(row.cells, columns, policies);
            return (
              <>
                <Places row={row} columns={columns} marks={marks} isFinal={isFinal} onAct={onAct} />
                {isCut && <p>{t.candidates.whereCut(columns.length)}</p>}
              </>
            );
          }}
        </Answered>
      )}
    </Answered>
  </Section>
);

interface PlacesProps extends Pick<CandidatePlacesProps, 'isFinal' | 'onAct'> {
  row: Row;
  columns: ReleaseMatrix['columns'];
  marks: ReturnType<typeof marksOf>;
}

function Places({ row, columns, marks, isFinal, onAct }: PlacesProps) {
  const can = useCan();
  const rows = columns.flatMap((column, index) => {
    const cell = row.cells[index];
    return cell ? [{ ...column, ...cell, mark: marks[index] ?? 'later' }] : [];
  });
  return (
    <Table
      caption={t.candidates.where}
      keyOf={({ environmentId }) => environmentId}
      rows={rows}
      columns={[
        {
          name: t.candidates.environment,
          cell: ({ environmentId, name }) => <PageLink to={`/environments/${environmentId}`}>{name}</PageLink>,
        },
        {
          name: t.candidates.state,
          cell: ({ state, mark }) => (
            <Status tone={TONES[state]}>{state === 'never' ? t.where.marks[mark] : t.where.states[state]}</Status>
          ),
        },
        {
          name: t.candidates.since,
          cell: ({ since, by, executionId }) =>
            since === null ? (
              t.parts.none
            ) : (
              <>
                {isRunId(executionId) ? (
                  <PageLink to={`/runs/${executionId}`}>
                    <Time at={since} />
                  </PageLink>
                ) : (
                  <Time at={since} />
                )}{' '}
                {by && t.candidates.by(by)}
              </>
            ),
        },
        {
          name: t.parts.actions,
          isNarrow: true,
          cell: ({ name, environmentId, state, mark }) => (
            <>
              {!isFinal && state !== 'deployed' && mark !== 'never' && can('startFlowRun') && (
                <Button
                  look={mark === 'next' ? 'plain' : 'quiet'}
                  aria-label={t.gates.ask(name)}
                  onClick={() => onAct({ kind: 'request', environmentName: name, environmentId })}
                >
                  {t.candidates.act}
                </Button>
              )}
              <Button
                look="quiet"
                aria-label={t.where.act.compare(name)}
                onClick={() => onAct({ kind: 'compare', environmentName: name, environmentId })}
              >
                {t.candidates.compare}
              </Button>
            </>
          ),
        },
      ]}
    />
  );
}
