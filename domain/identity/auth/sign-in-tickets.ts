import type { Encryption } from '../../kernel/encryption/encryption.ts';
import type { Entry } from './sessions.mutations.ts';

/** A person who proved the password has so long to give the code. */
const TICKET_MS = 5 * 60_000;
const TICKET_CONTEXT = 'sign-in ticket';

/** Encrypted statements that somebody's password was right, for the second step of a sign-in. */
export function signInTickets(encryption: Encryption, now: () => Date) {
  interface Ticket extends Entry {
    expiresAt: number;
  }
  return {
    issue(entry: Entry): string {
      const ticket: Ticket = { ...entry, expiresAt: now().getTime() + TICKET_MS };
      return encryption.encrypt(JSON.stringify(ticket), TICKET_CONTEXT);
    },
    open(text: string): Entry | undefined {
      try {
        const { expiresAt, ...entry } = JSON.parse(encryption.decrypt(text, TICKET_CONTEXT)) as Ticket;
        return expiresAt > now().getTime() ? entry : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
