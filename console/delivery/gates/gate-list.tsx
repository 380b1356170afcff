import type { ReactNode } from 'react';
import { Status } from '../../kernel/parts/status.tsx';
import { duration } from '../../kernel/parts/time-rules.ts';
import { ExactTime, Time } from '../../kernel/parts/time.tsx';
import { t } from '../../messages/messages.ts';
import type { Gate } from './gate-rules.ts';
import styles from './gates.module.css';

/** The gates in their order, each in words, with its shape and colour. `zones` are those of the environment's windows. */
export const GateList = ({ gates, zones }: { gates: readonly Gate[]; zones: readonly string[] }) => (
  <ol className={styles.gates} aria-label={t.gates.gates}>
    {gates.map((gate) => (
      <li key={gate.kind} data-tone={gate.tone}>
        <span className={styles.name}>{t.gates.kinds[gate.kind]}</span>
        <Status tone={gate.tone}>{t.gates.words[gate.tone]}</Status>
        <span className={styles.said}>{saidOf(gate, zones)}</span>
      </li>
    ))}
  </ol>
);

function saidOf(gate: Gate, zones: readonly string[]): ReactNode {
  switch (gate.kind) {
    case 'hold':
      return <Hold {...gate} />;
    case 'after':
      return gate.tone === 'idle' ? t.gates.notAsked : (gate.reason ?? t.gates.afterMet);
    case 'soak':
      return <Soak {...gate} />;
    case 'approval':
      return <Approval {...gate} />;
    case 'window':
      return <WindowGate gate={gate} zones={zones} />;
    case 'lock':
      return lockSaid(gate);
    case 'executor':
      return gate.executor === null ? t.gates.executorNone : t.gates.executor[gate.executor];
  }
}

type Of<Kind extends Gate['kind']> = Extract<Gate, { kind: Kind }>;

const Hold = ({ tone, reason = '', until, source }: Of<'hold'>) =>
  tone === 'good' ? (
    t.gates.holdNone
  ) : (
    <>
      {source === 'verification' && <>{t.gates.holdByVerification}. </>}
      {t.gates.hold(reason)}
      {until && (
        <small>
          {t.gates.holdUntil} <Time at={until} />
        </small>
      )}
    </>
  );

function Soak({ tone, endsAt }: Of<'soak'>) {
  if (tone === 'idle') return t.gates.notAsked;
  if (tone === 'good') return t.gates.soakOver;
  if (!endsAt) return t.gates.soakLater;
  return (
    <>
      {t.gates.soakEnds} <Time at={endsAt} />
      <small>
        <ExactTime at={endsAt} />
      </small>
    </>
  );
}

function Approval({ approvers = [], minApprovals = 1, expiresAt }: Of<'approval'>) {
  if (!expiresAt) return t.gates.notAsked;
  return (
    <>
      {t.gates.approval(minApprovals, approvers.join(', '))}
      <small>
        {t.gates.approvalExpires} <Time at={expiresAt} />
      </small>
    </>
  );
}

function WindowGate({ gate, zones }: { gate: Of<'window'>; zones: readonly string[] }) {
  const { tone, nextWindowAt, reason, fails } = gate;
  if (tone === 'idle') return t.gates.notAsked;
  if (tone === 'good') return t.gates.windowOpen;
  return (
    <>
      {reason ?? t.gates.windowClosed}
      {fails && <small>{t.gates.windowFails}</small>}
      {nextWindowAt ? (
        <>
          <small>
            {t.gates.windowNext} <Time at={nextWindowAt} />: <ExactTime at={nextWindowAt} />
          </small>
          {zones.map((zone) => (
            <small key={zone}>
              <ExactTime at={nextWindowAt} timeZone={zone} /> {t.gates.inZone(zone)}
            </small>
          ))}
        </>
      ) : (
        <small>{t.gates.windowUnknown}</small>
      )}
    </>
  );
}

function lockSaid({ tone, heldBy, position = 0, estimatedWaitSeconds }: Of<'lock'>): ReactNode {
  if (tone === 'idle') return t.gates.notAsked;
  if (tone === 'good') return t.gates.lockFree;
  const wait =
    estimatedWaitSeconds == null ? t.gates.lockWaitUnknown : t.gates.lockWait(duration(estimatedWaitSeconds * 1_000));
  return (
    <>
      {t.gates.lockHeld(heldBy ?? t.parts.unknown)}
      <small>
        {t.gates.lockPosition(position)}, {wait}
      </small>
    </>
  );
}
