import { useSyncExternalStore } from 'react';
import styles from './announce.module.css';

const STAYS_MS = 6_000;
let text = '';
const watchers = new Set<() => void>();
let leaving: ReturnType<typeof setTimeout> | undefined;

const say = (next: string): void => {
  text = next;
  for (const watch of watchers) watch();
};

/** Says shortly what has been done, also to screen readers. */
export function announce(said: string): void {
  clearTimeout(leaving);
  say(said);
  leaving = setTimeout(() => say(''), STAYS_MS);
}

function watchText(watch: () => void): () => void {
  watchers.add(watch);
  return () => watchers.delete(watch);
}

/** Where announcements are shown; drawn once. */
export function Announcements() {
  const shown = useSyncExternalStore(watchText, () => text);
  return (
    <div role="status" aria-live="polite" className={shown === '' ? 'visually-hidden' : styles.shown}>
      {shown}
    </div>
  );
}
