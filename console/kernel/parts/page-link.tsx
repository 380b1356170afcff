import { Link } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { type Address, useProject } from '../data/address.ts';

interface PageLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** Path within the console. */
  to: string;
  /** Filters of that page; the project is kept where none is named. */
  search?: Address;
  children: ReactNode;
}

/** A link to another page of the console. */
export function PageLink({ to, search, ...rest }: PageLinkProps) {
  const project = useProject();
  return <Link to={to} search={{ project, ...search }} {...rest} />;
}
