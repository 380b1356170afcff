import { Link } from '@tanstack/react-router';
import type { Address } from '../data/address.ts';
import styles from './tab-links.module.css';

interface TabLinksProps {
  /** What is chosen by them, for those who cannot see where they stand. */
  name: string;
  tabs: readonly { label: string; count?: number | undefined; search: Address }[];
}

/** Views of the same page, beside each other; which one is shown stands in the address. */
export const TabLinks = ({ name, tabs }: TabLinksProps) => (
  <nav aria-label={name} className={styles.tabs}>
    {tabs.map(({ label, count, search }) => (
      <Link key={label} to="." search={search} activeOptions={{ exact: true, includeSearch: true }}>
        {label}
        {count !== undefined && <span className={styles.count}>{count}</span>}
      </Link>
    ))}
  </nav>
);
