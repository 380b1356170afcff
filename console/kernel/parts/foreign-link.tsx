import type { ReactNode } from 'react';
import { isWebAddress } from './foreign-link-rules.ts';

interface ForeignLinkProps {
  /** An address that the service or somebody else wrote. */
  href: string | null | undefined;
  className?: string;
  children: ReactNode;
}

/** A link to another site, in a new tab; an address that leads to no site is shown as text. */
export const ForeignLink = ({ href, className, children }: ForeignLinkProps) =>
  isWebAddress(href) ? (
    <a href={href} target="_blank" rel="noreferrer" className={className}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
