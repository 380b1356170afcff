import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** The parameters of an address; absent ones are not in it. */
export type Address = Record<string, string | undefined>;

/** Parameters as plain text, so that addresses stay readable: `?project=acme/shop&q=2026.03`. */
export const parseAddress = (search: string): Address => Object.fromEntries(new URLSearchParams(search));

export function writeAddress(address: Record<string, unknown>): string {
  const given = Object.entries(address).filter(([, value]) => typeof value === 'string' && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === '' ? '' : `?${text.replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',')}`;
}

/**
 * The filters of a page, which stand in its address: what they are, and a function that changes some of them. The page is the
 * same one in the history while one types.
 */
export function useAddress(): [Address, (change: Address) => void] {
  const address = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (changed: Address) =>
      void navigate({ to: '.', replace: true, search: (before: Address) => ({ ...before, ...changed }) }),
    [navigate],
  );
  return [address, change];
}

/** The project that all pages are narrowed to; undefined: all of them. */
export const useProject = (): string | undefined => useAddress()[0].project || undefined;
