import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { t } from '../../messages/messages.ts';
import { useMe, whoIs } from '../data/me.ts';
import { dismissEnd, followSession, sessionHasEnded, signInBeside, watchSession } from '../data/session.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { useNow } from '../parts/time.tsx';
import { relativeTime } from '../parts/time-rules.ts';

const WARN_MS = 10 * 60_000;

/** Renews the session in another tab when it ends soon or has ended, so that nothing typed here is lost. */
export function SessionDialog() {
  const queries = useQueryClient();
  const hasEnded = useSyncExternalStore(watchSession, sessionHasEnded);
  const me = useMe();
  const who = whoIs(me);
  const now = useNow();
  const [dismissed, dismiss] = useState<string>();
  useEffect(() => {
    const ending = new AbortController();
    followSession(queries, who, ending.signal);
    return () => ending.abort();
  }, [queries, who]);
  const endsAt = me.session?.expiresAt;
  const endsSoon = endsAt != null && endsAt !== dismissed && new Date(endsAt).getTime() - now < WARN_MS;
  if (!hasEnded && !endsSoon) return null;
  const title = hasEnded ? t.shell.sessionEnded : t.shell.sessionEnds(relativeTime(Date.parse(endsAt ?? ''), now));
  const close = () => {
    if (hasEnded) dismissEnd();
    dismiss(endsAt);
  };
  return (
    <Dialog title={title} onClose={close}>
      <p>{t.shell.sessionEndedHint}</p>
      <DialogActions>
        <Button look="main" onClick={signInBeside}>
          {t.shell.signInAgain}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
