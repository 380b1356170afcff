import { extendEnvironmentLock, type LockTicket, releaseEnvironmentLock } from '@quayside/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAct } from '../../kernel/data/act.ts';
import { client } from '../../kernel/data/client.ts';
import { useCan } from '../../kernel/data/me.ts';
import { Button } from '../../kernel/parts/button.tsx';
import { ConfirmDialog } from '../../kernel/parts/confirm-dialog.tsx';
import { errorAt, TextField } from '../../kernel/parts/fields.tsx';
import { Answered, Facts, Section } from '../../kernel/parts/page.tsx';
import { duration } from '../../kernel/parts/time-rules.ts';
import { Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import { LockDialog } from '../../delivery/release-actions/lock-dialog.tsx';
import { lockQueueQuery } from './environments.queries.ts';

interface LockProps {
  id: string;
  name: string;
}

/** What is asked for; a ticket is that of the holder who was shown, so that nothing is done to the lock of the next one. */
type Asking = { kind: 'take' } | { kind: 'extend' | 'release'; ticket: LockTicket };

/** Who holds the environment, who waits for it, and what one can do about it. */
export function EnvironmentLock({ id, name, repositoryIdentifier }: LockProps & { repositoryIdentifier: string }) {
  const queue = useQuery(lockQueueQuery(id));
  const can = useCan();
  const [open, setOpen] = useState<Asking>();
  const held = queue.data?.tickets.find(({ state }) => state === 'held');
  const close = () => setOpen(undefined);
  return (
    <Section
      title={t.environments.lock}
      actions={
        can('requestEnvironmentLock') && (
          <>
            <Button onClick={() => setOpen({ kind: 'take' })}>{t.environments.takeLock}</Button>
            {held && <Button onClick={() => setOpen({ kind: 'extend', ticket: held })}>{t.environments.extend}</Button>}
            {held && (
              <Button look="danger" onClick={() => setOpen({ kind: 'release', ticket: held })}>
                {t.environments.giveBack}
              </Button>
            )}
          </>
        )
      }
    >
      <Answered query={queue} rows={1}>
        {({ tickets }) => (
          <>
            {held ? <HeldLock ticket={held} /> : <p>{t.environments.notLocked}</p>}
            <Waiting tickets={tickets.filter(({ state }) => state !== 'held')} />
          </>
        )}
      </Answered>
      {open?.kind === 'take' && (
        <LockDialog
          repositoryIdentifier={repositoryIdentifier}
          environmentName={name}
          environmentId={id}
          onClose={close}
        />
      )}
      {open?.kind === 'extend' && <ExtendLock id={id} name={name} ticket={open.ticket} onClose={close} />}
      {open?.kind === 'release' && <ReleaseLock id={id} name={name} ticket={open.ticket} onClose={close} />}
    </Section>
  );
}

const HeldLock = ({ ticket: { heldBy, heldAt, expiresAt, reason } }: { ticket: LockTicket }) => (
  <Facts
    facts={[
      [t.environments.locked, heldBy],
      [t.environments.heldSince, <Time key="held" at={heldAt} />],
      [t.environments.expires, <Time key="expires" at={expiresAt} />],
      [t.environments.reason, reason ?? t.parts.none],
    ]}
  />
);

function Waiting({ tickets }: { tickets: readonly LockTicket[] }) {
  if (tickets.length === 0) return null;
  return (
    <div>
      <h3>{t.environments.queue}</h3>
      <ol>
        {tickets.map(({ ticketId, heldBy, reason, estimatedWaitSeconds }) => (
          <li key={ticketId}>
            {heldBy}
            {reason && <> · {reason}</>}
            {estimatedWaitSeconds !== null && <> · {t.environments.estimate(duration(estimatedWaitSeconds * 1_000))}</>}
          </li>
        ))}
      </ol>
    </div>
  );
}

const DEFAULT_MINUTES = '60';

const Minutes = ({
  value,
  onValue,
  error,
}: {
  value: string;
  onValue: (value: string) => void;
  error: string | undefined;
}) => (
  <TextField
    label={t.environments.lease}
    hint={t.environments.leaseHint}
    type="number"
    min={1}
    value={value}
    onValue={onValue}
    error={error}
    required
  />
);

interface TicketProps extends LockProps {
  ticket: LockTicket;
  onClose: () => void;
}

function ExtendLock({ id, name, ticket: { ticketId }, onClose }: TicketProps) {
  const [minutes, setMinutes] = useState(DEFAULT_MINUTES);
  const body = { leaseMinutes: Number(minutes) };
  const acting = useAct(() => extendEnvironmentLock({ client, path: { id, ticketId }, body }), onClose);
  return (
    <ConfirmDialog
      title={t.environments.extendTitle(name)}
      label={t.environments.extend}
      acting={acting}
      input={() => body}
      onClose={onClose}
    >
      <Minutes value={minutes} onValue={setMinutes} error={errorAt(acting.problem, '#/body/leaseMinutes')} />
    </ConfirmDialog>
  );
}

function ReleaseLock({ id, name, ticket: { ticketId, heldBy }, onClose }: TicketProps) {
  const acting = useAct(() => releaseEnvironmentLock({ client, path: { id, ticketId } }), onClose);
  return (
    <ConfirmDialog
      title={t.environments.giveBackTitle(name, heldBy)}
      label={t.environments.giveBack}
      nameToType={name}
      acting={acting}
      input={() => ({})}
      onClose={onClose}
    />
  );
}
