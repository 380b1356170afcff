import type { ApprovalWithVotes, ProblemError } from '@quayside/client';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import { useAct } from '../../kernel/data/act.ts';
import { useCan } from '../../kernel/data/me.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { Button } from '../../kernel/parts/button.tsx';
import { Checkbox } from '../../kernel/parts/fields.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { DecideDialog } from './decide-dialog.tsx';
import { type Decided, decideAll } from './decisions.ts';
import { InboxCard, titleOf } from './inbox-card.tsx';
import { chosenOf, type Decision, isOver } from './inbox-rules.ts';
import { approvalQuery } from './inbox.queries.ts';
import styles from './inbox.module.css';
import { Outcomes } from './outcomes.tsx';

interface Asking {
  decision: Decision;
  approvals: readonly ApprovalWithVotes[];
  /** They are what is left of the last try, which this ended. */
  stoppedBy?: ProblemError;
}

/** Approvals that one may decide: one at a time, or several with one comment. */
export function WaitingForMe({ approvals }: { approvals: readonly ApprovalWithVotes[] }) {
  const can = useCan();
  const [chosen, choose] = useState<readonly ApprovalWithVotes[]>([]);
  const [asking, ask] = useState<Asking>();
  const [outcomes, setOutcomes] = useState<readonly Decided[]>([]);
  const acting = useAct(decideAll, ({ decided, left, stoppedBy }, { decision }) => {
    setOutcomes(asking?.stoppedBy ? [...outcomes, ...decided] : decided);
    choose(left);
    ask(stoppedBy && { decision, approvals: left, stoppedBy });
    if (stoppedBy) return;
    announce(t.inbox.announce(decided.filter(({ outcome }) => outcome.kind === 'done').length, decided.length));
  });
  const { here, gone } = chosenOf(chosen, approvals);
  const mayDecide = can('grantApproval');
  const tick = (approval: ApprovalWithVotes, isChosen: boolean) =>
    choose([...chosen.filter(({ id }) => id !== approval.id), ...(isChosen ? [approval] : [])]);
  return (
    <>
      {outcomes.length > 0 && <Outcomes decided={outcomes} onHide={() => setOutcomes([])} />}
      {gone.length > 0 && <Gone approvals={gone} onHide={() => choose(here)} />}
      {mayDecide && approvals.length > 1 && (
        <div className={styles.bar}>
          <Checkbox
            label={t.inbox.tickAll}
            isChecked={here.length === approvals.length}
            onChecked={(isAll) => choose(isAll ? approvals : [])}
          />
          {here.length > 0 && (
            <>
              <span>{t.inbox.ticked(here.length)}</span>
              <DecisionButtons onDecide={(decision) => ask({ decision, approvals: here })} />
            </>
          )}
        </div>
      )}
      <ul className={styles.list}>
        {approvals.map((approval) => (
          <li key={approval.id} className={styles.choice}>
            {mayDecide && approvals.length > 1 && (
              <Checkbox
                label={<span className="visually-hidden">{t.inbox.tick(titleOf(approval))}</span>}
                isChecked={here.some(({ id }) => id === approval.id)}
                onChecked={(isChosen) => tick(approval, isChosen)}
              />
            )}
            <InboxCard approval={approval} saysWhyNot={false}>
              {mayDecide && (
                <div className={styles.actions}>
                  <DecisionButtons onDecide={(decision) => ask({ decision, approvals: [approval] })} />
                </div>
              )}
            </InboxCard>
          </li>
        ))}
      </ul>
      {asking && <DecideDialog {...asking} acting={acting} onClose={() => ask(undefined)} />}
    </>
  );
}

const DecisionButtons = ({ onDecide }: { onDecide: (decision: Decision) => void }) => (
  <>
    <Button look="main" onClick={() => onDecide('approve')}>
      {t.inbox.approve}
    </Button>
    <Button look="danger" onClick={() => onDecide('reject')}>
      {t.inbox.reject}
    </Button>
  </>
);

/** What was chosen and is not open any more: who decided it. */
function Gone({ approvals, onHide }: { approvals: readonly ApprovalWithVotes[]; onHide: () => void }) {
  const over = useQueries({ queries: approvals.map(({ id }) => approvalQuery(id)) }).flatMap(({ data }) =>
    data && isOver(data) ? [data] : [],
  );
  if (over.length === 0) return null;
  return (
    <Note>
      <strong>{t.inbox.gone}</strong>
      <ul className={styles.votes}>
        {over.map((approval) => (
          <li key={approval.id}>
            {titleOf(approval)}: {statusOf(approval)}
          </li>
        ))}
      </ul>
      <div>
        <Button onClick={onHide}>{t.inbox.hideOutcomes}</Button>
      </div>
    </Note>
  );
}

function statusOf({ status, resolvedBy }: ApprovalWithVotes): string {
  const said = t.inbox.statuses[status];
  return resolvedBy === null ? said : t.inbox.decidedBy(said, resolvedBy);
}
