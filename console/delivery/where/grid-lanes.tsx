import { PageLink } from '../../kernel/parts/page-link.tsx';
import { Status } from '../../kernel/parts/status.tsx';
import { t } from '../../messages/messages.ts';
import type { Lane, WaitingApproval } from './lane-rules.ts';
import styles from './where.module.css';

interface LineProps {
  lineIndex: number;
  rowIndex: number;
  isTab: boolean;
  height: number;
  /** Height of the lines before it that are not drawn. */
  gap: number;
  span: number;
}

/** Stands for lines that are not drawn. */
export const Gap = ({ height }: { height: number }) => (
  <tr aria-hidden="true" className={styles.gap}>
    <td style={{ height }} />
  </tr>
);

const NAMED_MAX = 2;

/** The heading of a lane. What waits for a person is named there when it is folded. */
export function LaneLine({
  lane,
  lineIndex,
  rowIndex,
  isTab,
  height,
  gap,
  span,
  waiting,
}: LineProps & { lane: Lane; waiting: readonly WaitingApproval[] }) {
  const { domain, total, isFolded } = lane;
  const own = isFolded ? waiting.filter((each) => each.domain === domain) : [];
  return (
    <>
      {gap > 0 && <Gap height={gap} />}
      <tr aria-rowindex={rowIndex} style={{ height }} className={styles.lane}>
        <th colSpan={span} scope="rowgroup" role="rowheader">
          <div className={styles.laneHead}>
            <button
              type="button"
              className={styles.fold}
              aria-expanded={!isFolded}
              aria-label={isFolded ? t.where.unfold(domain) : t.where.fold(domain)}
              tabIndex={isTab ? 0 : -1}
              data-line={lineIndex}
              data-column="all"
            >
              <span aria-hidden="true">{isFolded ? '▸' : '▾'}</span>
              {domain}
            </button>
            {total !== undefined && <small>{t.where.releases(total)}</small>}
            {own.slice(0, NAMED_MAX).map(({ id, releaseName, environmentName }) => (
              <PageLink key={id} to="/inbox" className={styles.inbox}>
                <Status tone="wait">
                  {t.where.waitsForApproval(releaseName ?? t.parts.unknown, environmentName ?? t.parts.unknown)}
                </Status>
              </PageLink>
            ))}
            {own.length > NAMED_MAX && <small>{t.where.moreWait(own.length - NAMED_MAX)}</small>}
          </div>
        </th>
      </tr>
    </>
  );
}

/** Stands for the releases of a lane that are not loaded. */
export const MoreLine = ({ lineIndex, rowIndex, isTab, height, gap, span }: LineProps) => (
  <>
    {gap > 0 && <Gap height={gap} />}
    <tr aria-rowindex={rowIndex} style={{ height }}>
      <td
        colSpan={span}
        role="gridcell"
        tabIndex={isTab ? 0 : -1}
        data-line={lineIndex}
        data-column="all"
        className={styles.more}
      >
        {t.where.loadingMore}
      </td>
    </tr>
  </>
);
