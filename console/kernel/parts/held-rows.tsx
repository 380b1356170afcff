import { type RefObject, useRef, useState } from 'react';
import { t } from '../../messages/messages.ts';
import { Button } from './button.tsx';
import { newAtTop } from './held-rows-rules.ts';

/** From there on somebody reads further down, and rows above would push what they read away. */
const SCROLLED_PX = 80;

const isUnderHand = (list: RefObject<HTMLElement | null>): boolean =>
  scrollY > SCROLLED_PX || (list.current?.contains(document.activeElement) ?? false);

interface Held<Row> {
  /** Around the list: while the focus is in it, it does not move. */
  list: RefObject<HTMLDivElement | null>;
  rows: readonly Row[];
  /** Rows that are held back. */
  count: number;
  show: () => void;
}

/**
 * The rows of a list that grows at its top, without those that came while somebody reads it: these are counted, and shown when
 * the reader asks for them or has nothing under the hand. What `place` names is another list when it changes.
 */
export function useHeldRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string, place: string): Held<Row> {
  const list = useRef<HTMLDivElement>(null);
  const keys = rows.map(keyOf);
  const [shown, setShown] = useState({ place, keys });
  const count = shown.place === place ? newAtTop(keys, new Set(shown.keys)) : 0;
  const isHeld = count > 0 && isUnderHand(list);
  if (!isHeld && (shown.place !== place || keys.join() !== shown.keys.join())) setShown({ place, keys });
  return {
    list,
    rows: isHeld ? rows.slice(count) : rows,
    count: isHeld ? count : 0,
    show: () => setShown({ place, keys }),
  };
}

/** How many rows are held back, and the way to them. */
export const ShowNewer = ({ count, onShow }: { count: number; onShow: () => void }) =>
  count === 0 ? null : (
    <p role="status">
      <Button onClick={onShow}>{t.parts.newer(count)}</Button>
    </p>
  );
