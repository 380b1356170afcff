import type { ApprovalWithVotes, ProblemError } from '@quayside/client';
import { useState } from 'react';
import { t } from '../../messages/messages.ts';
import type { Acting } from '../../kernel/data/act.ts';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { TextArea } from '../../kernel/parts/fields.tsx';
import type { DecisionInput, Decisions } from './decisions.ts';
import { titleOf } from './inbox-card.tsx';
import type { Decision } from './inbox-rules.ts';
import styles from './inbox.module.css';

interface DecideDialogProps {
  decision: Decision;
  approvals: readonly ApprovalWithVotes[];
  /** Why these were not decided at the last try. */
  stoppedBy?: ProblemError | undefined;
  acting: Acting<DecisionInput, Decisions>;
  onClose: () => void;
}

/** One comment for all that are decided at once. */
export function DecideDialog({ decision, approvals, stoppedBy, acting, onClose }: DecideDialogProps) {
  const [comment, setComment] = useState('');
  const isApproval = decision === 'approve';
  const title = isApproval ? t.inbox.approveMany(approvals.length) : t.inbox.rejectMany(approvals.length);
  const [only] = approvals.length === 1 ? approvals : [];
  return (
    <ConfirmDialog
      title={title}
      label={t.inbox[decision]}
      acting={{ ...acting, problem: acting.problem ?? stoppedBy }}
      input={() => ({ decision, approvals, comment })}
      onClose={onClose}
    >
      <ul className={styles.subjects}>
        {approvals.map((approval) => (
          <li key={approval.id}>{titleOf(approval)}</li>
        ))}
      </ul>
      <p>{isApproval ? t.inbox.approveHint : t.inbox.rejectHint}</p>
      <TextArea label={t.inbox.comment} hint={t.inbox.commentHint} value={comment} onValue={setComment} />
      {only && (
        <CopyAs
          method="POST"
          path={`/api/flows/approvals/${only.id}/${decision}`}
          body={comment === '' ? {} : { comment }}
          command={commandOf('approval', decision, only.id, ...(comment === '' ? [] : ['--comment', comment]))}
        />
      )}
    </ConfirmDialog>
  );
}
