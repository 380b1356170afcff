import { type KeyboardEvent, useLayoutEffect, useRef } from 'react';
import { PageLink } from '../../kernel/parts/page-link.tsx';
import { useCan } from '../../kernel/data/me.ts';
import { t } from '../../messages/messages.ts';
import type { ReleaseAction } from '../release-actions/release-action.tsx';
import { type EnvironmentColumn, isRunId, isThere, marksOf, type Row } from './matrix-rules.ts';
import type { CellAt } from './grid-row.tsx';
import styles from './where.module.css';

interface CellMenuProps extends CellAt {
  row: Row;
  index: number;
  columns: readonly EnvironmentColumn[];
  /** The cell beside which it opens, and to which the focus goes back. */
  cell: HTMLElement;
  onAct: (action: ReleaseAction) => void;
  onClose: () => void;
}

/** What can be done from a cell of the matrix. */
export function CellMenu({ row, index, columns, policies, cell, onAct, onClose }: CellMenuProps) {
  const can = useCan();
  const pane = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = pane.current;
    if (!shown) return;
    shown.showPopover();
    place(shown, cell);
    shown.querySelector<HTMLElement>('button, a')?.focus();
  }, [cell]);
  const environment = columns[index];
  const at = row.cells[index];
  if (!environment || !at) return null;
  const { name, environmentId } = environment;
  const marks = marksOf(row.cells, columns, policies);
  const next = isThere(at.state)
    ? columns[marks.findIndex((mark, column) => mark === 'next' && column > index)]
    : undefined;
  const act = (kind: ReleaseAction['kind'], environmentName = name) => {
    pane.current?.hidePopover();
    onAct({ kind, environmentName, environmentId });
  };
  const action = (label: string, kind: ReleaseAction['kind'], environmentName?: string) => (
    <button type="button" onClick={() => act(kind, environmentName)}>
      {label}
    </button>
  );
  return (
    <div
      ref={pane}
      popover="auto"
      className={styles.pane}
      role="group"
      aria-label={t.where.menu(row.releaseName, name)}
      onToggle={({ newState }) => {
        if (newState !== 'closed') return;
        if (!document.querySelector('dialog[open]') && document.activeElement === document.body) cell.focus();
        onClose();
      }}
      onKeyDown={(event) => moveFocus(event, pane.current)}
    >
      <p>{t.where.menu(row.releaseName, name)}</p>
      {at.approvalId && <PageLink to="/inbox">{t.where.act.approve}</PageLink>}
      {can('startFlowRun') && next && action(t.where.act.promote(next.name), 'request', next.name)}
      {at.state !== 'not_taken' && action(t.where.act.request(name), 'request')}
      {action(t.where.act.compare(name), 'compare')}
      {can('reportReleaseEvent') && action(t.where.act.report, 'report')}
      {can('requestEnvironmentLock') && action(t.where.act.lock(name), 'lock')}
      {row.hold
        ? can('releaseHoldOfReleaseCandidate') && action(t.where.act.releaseHold, 'releaseHold')
        : can('holdReleaseCandidate') && action(t.where.act.hold, 'hold')}
      {isRunId(at.executionId) && <PageLink to={`/runs/${at.executionId}`}>{t.where.act.run}</PageLink>}
      <PageLink to={`/candidates/${row.candidateId}`}>{t.where.act.candidate}</PageLink>
      <PageLink to={`/environments/${environmentId}`}>{t.where.act.environment(name)}</PageLink>
    </div>
  );
}

function place(shown: HTMLElement, cell: HTMLElement): void {
  const { left, bottom, top } = cell.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = shown;
  const below = bottom + 2;
  shown.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - offsetWidth - 8))}px`;
  shown.style.top = `${below + offsetHeight < innerHeight ? below : Math.max(8, top - offsetHeight - 2)}px`;
}

function moveFocus(event: KeyboardEvent, shown: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !shown) return;
  event.preventDefault();
  event.stopPropagation();
  const all = Array.from(shown.querySelectorAll<HTMLElement>('button, a'));
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + step + all.length) % all.length]?.focus();
}
