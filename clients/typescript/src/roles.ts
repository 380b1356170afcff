import { type OperationId, ROLES_OF, type Role } from './generated/operations.ts';

/** Whether somebody of that role may call the operation, by its name; what tokens of projects reach is another question. */
export function can(operation: OperationId, role: Role | undefined): boolean {
  const roles = ROLES_OF.find(([, names]) => ` ${names} `.includes(` ${operation} `))?.[0] ?? '';
  return roles === 'public' || (role !== undefined && roles.split(' ').includes(role));
}
