import type { FlowRun } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { duration } from '../../kernel/parts/time-rules.ts';
import { Time } from '../../kernel/parts/time.tsx';
import { nameOfRun, reasonOf, toneOfRun } from './run-rules.ts';
import styles from './runs.module.css';

const placeOf = ({ environmentName, domain, projectIdentifier }: FlowRun): string =>
  [environmentName, domain !== null && t.runs.domain(domain), projectIdentifier].filter(Boolean).join(' · ');

/** Why it failed or was ended, or what it waits for: in the service's words, else by its state. */
function Reason({ run }: { run: FlowRun }) {
  const said = reasonOf(run);
  const reason = said === '' && run.status === 'Waiting' ? t.run.states[run.rawStatus] : said;
  if (reason === '') return null;
  return <p className={run.status === 'Failed' ? styles.reason : styles.waits}>{reason}</p>;
}

/** Long names are cut: the page of the run has them in full. */
const Who = ({ name }: { name: string }) => (
  <span className={styles.who} title={name}>
    {name}
  </span>
);

const COLUMNS: readonly Column<FlowRun>[] = [
  {
    name: t.runs.run,
    cell: (run) => (
      <>
        <PageLink to={`/runs/${run.id}`}>{nameOfRun(run)}</PageLink>
        <Reason run={run} />
      </>
    ),
  },
  {
    name: t.runs.status,
    cell: ({ status }) => <Status tone={toneOfRun(status)}>{t.runs.statuses[status]}</Status>,
    isNarrow: true,
  },
  { name: t.runs.where, cell: placeOf },
  { name: t.runs.who, cell: ({ triggeredBy }) => <Who name={triggeredBy} /> },
  { name: t.runs.when, cell: ({ createdAt }) => <Time at={createdAt} />, isNarrow: true },
  {
    name: t.runs.took,
    cell: ({ durationMs }) => (durationMs === null ? t.parts.none : duration(durationMs)),
    isNumber: true,
    isNarrow: true,
  },
];

/** Runs with the reason of a failure in the row. */
export const RunTable = ({ runs }: { runs: readonly FlowRun[] }) => (
  <Table caption={t.runs.caption} columns={COLUMNS} rows={runs} keyOf={({ id }) => id} />
);
