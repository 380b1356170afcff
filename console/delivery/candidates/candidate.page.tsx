import type { ReleaseCandidateWithWarnings } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '../../kernel/data/me.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { Answered, Facts, Page } from '../../kernel/parts/page.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { environmentsQuery, openRunsQuery } from '../gates/gates.queries.ts';
import { type ReleaseAction, ReleaseActionDialog } from '../release-actions/release-action.tsx';
import { columnsToAsk } from '../where/matrix-rules.ts';
import { matrixOfCandidateQuery, openApprovalsQuery } from '../where/where.queries.ts';
import { CandidateApprovals } from './candidate-approvals.tsx';
import { CandidateChanges } from './candidate-changes.tsx';
import { CandidatePlaces } from './candidate-places.tsx';
import { CandidateTimeline } from './candidate-timeline.tsx';
import { candidateQuery } from './candidates.queries.ts';
import styles from './candidates.module.css';
import { isFinal, toneOfStatus, whyOf } from './why-rules.ts';
import { WhyNote } from './why-note.tsx';

/** One release candidate: why it is not released yet, where it is, and what it changes. */
export function CandidatePage() {
  const { id = '' } = useParams({ strict: false });
  const candidate = useQuery(candidateQuery(id));
  if (candidate.data === undefined)
    return (
      <Page title={t.candidates.title} asked={[candidate]}>
        <Answered query={candidate} rows={10}>
          {() => null}
        </Answered>
      </Page>
    );
  return <Candidate key={id} candidate={candidate.data} asked={candidate} />;
}

interface CandidateProps {
  candidate: ReleaseCandidateWithWarnings;
  asked: { dataUpdatedAt: number; isFetching: boolean };
}

function Candidate({ candidate, asked: askedCandidate }: CandidateProps) {
  const { id, repositoryIdentifier, domain, releaseName, status, hold } = candidate;
  const [action, setAction] = useState<ReleaseAction>();
  const environments = useQuery(environmentsQuery(repositoryIdentifier));
  const release = environments.data?.filter(({ category }) => category === 'release').map(({ name }) => name);
  const asked = environments.data && columnsToAsk(environments.data, release ?? []);
  const matrix = useQuery({
    ...matrixOfCandidateQuery(
      { repositoryIdentifier, q: releaseName, includeSuperseded: true, environments: asked },
      domain,
      id,
    ),
    enabled: environments.data !== undefined,
  });
  const approvals = useQuery(openApprovalsQuery(repositoryIdentifier));
  const row = matrix.data?.rows.find(({ candidateId }) => candidateId === id);
  const columns = matrix.data?.columns ?? [];
  const own = approvals.data?.items.filter(({ candidateId }) => candidateId === id);
  const { data: open, isLoading: isAskingRuns } = useQuery(
    openRunsQuery({ repositoryIdentifier, domain, releaseName }),
  );
  const isCut = asked !== undefined;
  const why = whyOf(candidate, { columns: matrix.data?.columns, row, isCut, approvals: own, openRuns: open?.runs });
  const isAsking = isAskingRuns || (matrix.data === undefined && matrix.error === null && environments.error === null);
  return (
    <Page
      title={releaseName}
      aside={<Status tone={toneOfStatus(status)}>{t.candidates.statuses[status] ?? status}</Status>}
      actions={<Actions candidate={candidate} onAct={setAction} />}
      asked={[askedCandidate, matrix, approvals]}
    >
      <WhyNote why={why} isLoading={isAsking && !isFinal(status)} />
      {candidate.warnings.map(({ code, message }) => (
        <Note key={`${code} ${message}`}>{message}</Note>
      ))}
      <CandidateFacts candidate={candidate} />
      <div className={styles.columns}>
        <div>
          <CandidatePlaces
            matrix={matrix}
            row={row}
            environments={environments}
            isCut={isCut}
            isFinal={isFinal(status)}
            onAct={setAction}
          />
          <CandidateApprovals id={id} open={own ?? []} />
          <CandidateChanges candidate={candidate} columns={columns} row={row} environments={environments.data ?? []} />
        </div>
        <CandidateTimeline id={id} />
      </div>
      {action && (
        <ReleaseActionDialog
          action={action}
          release={{
            repositoryIdentifier,
            domain,
            releaseName,
            candidateId: id,
            packages: candidate.value.artifacts ?? {},
            hold,
          }}
          onClose={() => setAction(undefined)}
        />
      )}
    </Page>
  );
}

/** What can be done with it; a candidate that is final or aborted changes no more. */
function Actions({
  candidate,
  onAct,
}: {
  candidate: CandidateProps['candidate'];
  onAct: (action: ReleaseAction) => void;
}) {
  const can = useCan();
  const { status, hold } = candidate;
  return (
    <>
      {can('startFlowRun') && status !== 'aborted' && (
        <Button look="main" onClick={() => onAct({ kind: 'request' })}>
          {t.candidates.act}
        </Button>
      )}
      {hold && can('releaseHoldOfReleaseCandidate') && (
        <Button onClick={() => onAct({ kind: 'releaseHold' })}>{t.candidates.releaseHold}</Button>
      )}
      {!hold && !isFinal(status) && can('holdReleaseCandidate') && (
        <Button onClick={() => onAct({ kind: 'hold' })}>{t.candidates.hold}</Button>
      )}
      {!isFinal(status) && can('abortReleaseCandidate') && (
        <Button look="danger" onClick={() => onAct({ kind: 'abort' })}>
          {t.candidates.abort.label}
        </Button>
      )}
    </>
  );
}

function CandidateFacts({ candidate }: { candidate: CandidateProps['candidate'] }) {
  const { repositoryIdentifier, domain, branch, tag, commitSha, createdAt, createdBy, value, releaseName } = candidate;
  return (
    <div className={styles.facts}>
      <Facts
        facts={[
          [
            t.candidates.project,
            <PageLink
              key="project"
              to="/where"
              search={{ project: repositoryIdentifier, release: releaseName, in: domain }}
            >
              {repositoryIdentifier}
            </PageLink>,
          ],
          [t.candidates.domain, domain],
          branch === null ? undefined : [t.candidates.branch, branch],
          tag === null ? undefined : [t.candidates.tag, tag],
          [t.candidates.commit, <code key="commit">{commitSha}</code>],
          [
            t.candidates.created,
            <span key="created">
              <Time at={createdAt} /> {t.candidates.by(createdBy)}
            </span>,
          ],
        ]}
      />
      <ul className={styles.packages} aria-label={t.candidates.packages}>
        {Object.entries(value.artifacts ?? {}).map(([name, version]) => (
          <li key={name}>
            {name} <strong>{version}</strong>
          </li>
        ))}
      </ul>
    </div>
  );
}
