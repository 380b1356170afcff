import { abortReleaseCandidate } from '@quayside/client';
import { useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { errorAt, TextField } from '../../kernel/parts/fields.tsx';
import { t } from '../../messages/messages.ts';
import type { ReleaseInProject } from '../gates/gate-rules.ts';

/** Takes a release out for good, once its name was typed. */
export function AbortDialog({ release, onClose }: { release: ReleaseInProject; onClose: () => void }) {
  const { repositoryIdentifier, domain, releaseName } = release;
  const [reason, setReason] = useState('');
  const body = { repositoryIdentifier, domain, releaseName, ...(reason.trim() && { reason: reason.trim() }) };
  const acting = useAct(
    () => abortReleaseCandidate({ client, body }),
    () => {
      onClose();
      announce(t.candidates.abort.done(releaseName));
    },
  );
  return (
    <ConfirmDialog
      title={t.candidates.abort.title(releaseName)}
      label={t.candidates.abort.label}
      nameToType={releaseName}
      acting={acting}
      input={() => true}
      onClose={onClose}
    >
      <p>{t.candidates.abort.hint}</p>
      <TextField
        label={t.candidates.abort.reason}
        value={reason}
        onValue={setReason}
        error={errorAt(acting.problem, '#/body/reason')}
      />
      <CopyAs
        method="POST"
        path="/api/release-candidates/abort"
        body={body}
        command={commandOf(
          'candidate',
          'abort',
          releaseName,
          '--repository',
          repositoryIdentifier,
          '--domain',
          domain,
          ...(reason.trim() ? ['--reason', reason.trim()] : []),
        )}
      />
    </ConfirmDialog>
  );
}
