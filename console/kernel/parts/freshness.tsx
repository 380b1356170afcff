import type { UseQueryResult } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { t } from '../../messages/messages.ts';
import { feedState, watchFeedState } from '../data/live-queries.ts';
import { Status } from './status.tsx';
import styles from './freshness.module.css';
import { Time } from './time.tsx';

const TONES = { live: 'good', connecting: 'idle', polling: 'wait' } as const;

/** How old what a page shows is, and how it hears of changes. */
export function Freshness({ asked }: { asked: readonly Pick<UseQueryResult, 'dataUpdatedAt' | 'isFetching'>[] }) {
  const state = useSyncExternalStore(watchFeedState, feedState);
  const answered = asked.map(({ dataUpdatedAt }) => dataUpdatedAt).filter((at) => at > 0);
  const hints = { live: t.shell.liveHint, connecting: t.shell.connecting, polling: t.shell.pollingHint };
  return (
    <span className={styles.freshness}>
      {answered.length > 0 && (
        <span>
          {t.parts.updated('')} <Time at={Math.min(...answered)} />
        </span>
      )}
      <Status tone={TONES[state]} title={hints[state]}>
        {t.shell[state]}
      </Status>
    </span>
  );
}
