import { requestEnvironmentLock } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { errorAt, TextField } from '../../kernel/parts/fields.tsx';
import { Note } from '../../kernel/parts/problem-note.tsx';
import { t } from '../../messages/messages.ts';
import { environmentsQuery } from '../gates/gates.queries.ts';

interface LockDialogProps {
  repositoryIdentifier: string;
  environmentName: string;
  environmentId: string;
  onClose: () => void;
}

const DEFAULT_MINUTES = '30';

/** Asks for the lock of an environment. */
export function LockDialog({ repositoryIdentifier, environmentName, environmentId: id, onClose }: LockDialogProps) {
  const [reason, setReason] = useState('');
  const [minutes, setMinutes] = useState(DEFAULT_MINUTES);
  const { data: environments } = useQuery(environmentsQuery(repositoryIdentifier));
  const holder = environments?.find((each) => each.id === id)?.lockStatus.heldBy;
  const body = { ...(reason.trim() && { reason: reason.trim() }), leaseMinutes: Number(minutes) };
  const acting = useAct(
    () => requestEnvironmentLock({ client, path: { id }, body }),
    ({ state, position }) => {
      onClose();
      announce(state === 'held' ? t.where.lock.held(environmentName) : t.where.lock.waiting(String(position ?? '?')));
    },
  );
  return (
    <ConfirmDialog
      title={t.where.lock.title(environmentName)}
      label={t.where.lock.label}
      acting={acting}
      input={() => (body.leaseMinutes > 0 ? true : undefined)}
      onClose={onClose}
    >
      <p>{t.where.lock.hint}</p>
      {holder && <Note>{t.where.lock.queued(holder)}</Note>}
      <TextField
        label={t.where.lock.reason}
        value={reason}
        onValue={setReason}
        error={errorAt(acting.problem, '#/body/reason')}
      />
      <TextField
        label={t.where.lock.minutes}
        type="number"
        min={1}
        value={minutes}
        onValue={setMinutes}
        error={errorAt(acting.problem, '#/body/leaseMinutes')}
        required
      />
      <CopyAs
        method="POST"
        path={`/api/environments/${id}/locks`}
        body={body}
        command={commandOf(
          'lock',
          'acquire',
          environmentName,
          '--repository',
          repositoryIdentifier,
          '--lease',
          minutes,
          ...(reason.trim() ? ['--reason', reason.trim()] : []),
        )}
      />
    </ConfirmDialog>
  );
}
