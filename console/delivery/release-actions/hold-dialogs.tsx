import { holdReleaseCandidate, type ReleaseHold, releaseHoldOfReleaseCandidate } from '@quayside/client';
import { useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { announce } from '../../kernel/parts/announce.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { commandOf, CopyAs } from '../../kernel/parts/copy.tsx';
import { errorAt, TextArea, TextField } from '../../kernel/parts/fields.tsx';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import type { ReleaseInProject } from '../gates/gate-rules.ts';

interface HoldDialogProps {
  release: ReleaseInProject & { candidateId: string; hold: ReleaseHold | null };
  onClose: () => void;
}

const named = ({ repositoryIdentifier, domain, releaseName }: ReleaseInProject): readonly string[] => [
  releaseName,
  '--repository',
  repositoryIdentifier,
  '--domain',
  domain,
];

/** Keeps a release from all environments until somebody lets it go, or until a moment. */
export function HoldDialog({ release, onClose }: HoldDialogProps) {
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const { candidateId: id, releaseName } = release;
  const acting = useAct(
    (body: { reason: string; until?: string }) => holdReleaseCandidate({ client, path: { id }, body }),
    () => {
      onClose();
      announce(t.where.hold.done(releaseName));
    },
  );
  const endsAt = new Date(until);
  // While a date is typed it may be none.
  const ends = Number.isFinite(endsAt.getTime()) ? { until: endsAt.toISOString() } : {};
  const body = { reason: reason.trim(), ...ends };
  return (
    <ConfirmDialog
      title={t.where.hold.title(releaseName)}
      label={t.where.hold.label}
      acting={acting}
      input={() => (body.reason === '' ? undefined : body)}
      onClose={onClose}
    >
      <p>{t.where.hold.hint}</p>
      <TextArea
        label={t.where.hold.reason}
        value={reason}
        onValue={setReason}
        error={errorAt(acting.problem, '#/body/reason')}
        isRequired
      />
      <TextField
        label={t.where.hold.until}
        hint={t.where.hold.untilHint}
        type="datetime-local"
        max="9999-12-31T23:59"
        value={until}
        onValue={setUntil}
        error={errorAt(acting.problem, '#/body/until')}
      />
      <CopyAs
        method="POST"
        path={`/api/release-candidates/${id}/hold`}
        body={body}
        command={commandOf(
          'candidate',
          'hold',
          ...named(release),
          '--reason',
          body.reason,
          ...('until' in body && body.until ? ['--until', body.until] : []),
        )}
      />
    </ConfirmDialog>
  );
}

/** Lets a release go that is held; says who holds it, and why. */
export function ReleaseHoldDialog({ release, onClose }: HoldDialogProps) {
  const { candidateId: id, releaseName, hold } = release;
  const acting = useAct(
    () => releaseHoldOfReleaseCandidate({ client, path: { id } }),
    () => {
      onClose();
      announce(t.where.hold.released(releaseName));
    },
  );
  return (
    <ConfirmDialog
      title={t.where.hold.releaseTitle(releaseName)}
      label={t.where.hold.releaseLabel}
      acting={acting}
      input={() => true}
      onClose={onClose}
    >
      {hold && (
        <p>
          {t.where.hold.heldBy(hold.by)} <Time at={hold.since} />: {hold.reason}
        </p>
      )}
      <CopyAs
        method="POST"
        path={`/api/release-candidates/${id}/release-hold`}
        command={commandOf('candidate', 'release-hold', ...named(release))}
      />
    </ConfirmDialog>
  );
}
