import type { Environment, ReleaseCandidate, ReleaseMatrix } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useAddress } from '../../kernel/data/address.ts';
import { SelectField } from '../../kernel/parts/fields.tsx';
import { Answered, Section } from '../../kernel/parts/page.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { t } from '../../messages/messages.ts';
import { Commits, Part, WorkItems } from '../changes/changelog-view.tsx';
import { ChangesView } from '../changes/changes-view.tsx';
import { marksOf, type Row } from '../where/matrix-rules.ts';
import { CandidateWorkItems } from './candidate-work-items.tsx';
import { changesQuery, comparisonQuery } from './candidates.queries.ts';
import styles from './candidates.module.css';

/** Names the candidate before as the other side; no environment can have this name. */
const PREVIOUS = '';

interface CandidateChangesProps {
  candidate: Pick<ReleaseCandidate, 'id' | 'repositoryIdentifier'>;
  columns: ReleaseMatrix['columns'];
  row: Row | undefined;
  environments: readonly Environment[];
}

/** What a candidate changes against an environment, or against the candidate before. */
export function CandidateChanges({ candidate, columns, row, environments }: CandidateChangesProps) {
  const [{ against, previous }, change] = useAddress();
  const marks = row ? marksOf(row.cells, columns, environments) : [];
  const next = columns[marks.indexOf('next')]?.name;
  const names = columns.map(({ name }) => name);
  const chosen =
    previous === 'true' ? PREVIOUS : (names.find((name) => name === against) ?? next ?? names.at(-1) ?? PREVIOUS);
  return (
    <Section
      title={t.candidates.changes}
      actions={
        <SelectField
          label={t.candidates.against}
          value={chosen}
          onValue={(value) =>
            change({ against: value || undefined, previous: value === PREVIOUS ? 'true' : undefined })
          }
          options={[
            ...names.map((value) => ({ value, label: value })),
            { value: PREVIOUS, label: t.candidates.previous },
          ]}
        />
      }
    >
      {chosen === PREVIOUS ? (
        <SincePrevious candidate={candidate} />
      ) : (
        <AgainstEnvironment candidate={candidate} environmentName={chosen} />
      )}
    </Section>
  );
}

interface SideProps {
  candidate: CandidateChangesProps['candidate'];
}

function AgainstEnvironment({ candidate, environmentName }: SideProps & { environmentName: string }) {
  const compared = useQuery(comparisonQuery(candidate.id, environmentName));
  return (
    <Answered query={compared}>
      {({ comparison, changelog, policyViolations }) => (
        <div className={styles.changes}>
          {policyViolations.map(({ code, detail }) => (
            <Note key={code}>{detail}</Note>
          ))}
          <ChangesView comparison={comparison} changelog={changelog} />
          <CandidateWorkItems candidate={candidate} keys={changelog?.workItems.map(({ key }) => key) ?? []} />
        </div>
      )}
    </Answered>
  );
}

function SincePrevious({ candidate }: SideProps) {
  const changes = useQuery(changesQuery(candidate.id));
  return (
    <Answered query={changes}>
      {({ workItems, added, removed, missingChangelog }) => (
        <div className={styles.changes}>
          {missingChangelog && <Note>{missingChangelog.message}</Note>}
          {!missingChangelog && (
            <Part title={t.changes.added}>
              <WorkItems items={workItems} />
              <Commits commits={added.commits} total={added.totalCommits} />
            </Part>
          )}
          {removed.totalCommits > 0 && (
            <Part title={t.changes.removed}>
              <WorkItems items={removed.workItems.map((key) => ({ key }))} />
              <Commits commits={removed.commits} total={removed.totalCommits} />
            </Part>
          )}
          <CandidateWorkItems candidate={candidate} keys={workItems.map(({ key }) => key)} />
        </div>
      )}
    </Answered>
  );
}
