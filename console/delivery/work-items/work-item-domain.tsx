import type { WorkItemPlaces } from '@quayside/client';
import { t } from '../../messages/messages.ts';
import { Section } from '../../kernel/parts/page.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { type Column, Table } from '../../kernel/parts/table.tsx';
import { ExactTime, Time } from '../../kernel/parts/time.tsx';
import styles from './work-item.module.css';
import { toneOfPresence } from './work-item-rules.ts';

type Domain = WorkItemPlaces['domains'][number];
type Environment = Domain['environments'][number];
type Candidate = Domain['candidates'][number];

const Presence = ({
  place: { presence, present, total },
}: {
  place: Pick<Environment, 'presence' | 'present' | 'total'>;
}) => (
  <>
    <Status tone={toneOfPresence(presence)}>{t.workItems.presences[presence]}</Status>
    {presence === 'some' && <span className={styles.soft}> {t.workItems.parts(present, total)}</span>}
  </>
);

const ENVIRONMENTS: readonly Column<Environment>[] = [
  { name: t.workItems.environment, cell: ({ name }) => name },
  { name: t.workItems.presence, cell: (place) => <Presence place={place} /> },
  { name: t.workItems.since, cell: ({ arrivedAt, firstArrivedAt }) => <ExactTime at={arrivedAt ?? firstArrivedAt} /> },
  { name: t.workItems.release, cell: ({ releaseName }) => releaseName ?? t.parts.none },
];

const CANDIDATES: readonly Column<Candidate>[] = [
  {
    name: t.workItems.candidate,
    cell: ({ releaseName, isNew }) => (
      <>
        {releaseName} {isNew && <span className={styles.soft}>{t.workItems.isNew}</span>}
      </>
    ),
  },
  { name: t.workItems.presence, cell: (place) => <Presence place={place} /> },
  { name: t.workItems.branch, cell: ({ branch }) => branch ?? t.parts.none },
  { name: t.workItems.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Which environments and candidates of a domain have a work item. */
export function DomainPlaces({ domain: { domain, packages, environments, candidates } }: { domain: Domain }) {
  const having = candidates.filter(({ presence }) => presence !== 'none');
  return (
    <Section title={t.workItems.domain(domain)}>
      <p className={styles.soft}>{t.workItems.packages(packages)}</p>
      {environments.length === 0 ? (
        <p>{t.workItems.noEnvironments}</p>
      ) : (
        <Table
          caption={t.workItems.environments(domain)}
          columns={ENVIRONMENTS}
          rows={environments}
          keyOf={({ environmentId }) => environmentId}
        />
      )}
      <details>
        <summary>
          {t.workItems.candidatesName} ({having.length})
        </summary>
        {having.length === 0 ? (
          <p>{t.workItems.noCandidate}</p>
        ) : (
          <Table caption={t.workItems.candidates(domain)} columns={CANDIDATES} rows={having} keyOf={({ id }) => id} />
        )}
      </details>
    </Section>
  );
}
