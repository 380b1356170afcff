import { can, getCurrentUser, type Me, type OperationId } from '@quayside/client';
import { useSuspenseQuery } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { client } from './client.ts';

export const meQuery = ask(['me'], (signal) => getCurrentUser({ client, signal }), {
  topics: ['user', 'session'],
});

/** What tells people of different tenants apart. */
export const whoIs = ({ tenant, email }: Pick<Me, 'tenant' | 'email'>): string => `${tenant.slug} ${email}`;

/** Who is signed in; the shell has asked before any page is drawn. */
export const useMe = () => useSuspenseQuery(meQuery).data;

/** Whether the role of who is signed in may call an operation; the service decides all the same. */
export function useCan(): (operation: OperationId) => boolean {
  const { role } = useMe();
  return (operation) => can(operation, role);
}
