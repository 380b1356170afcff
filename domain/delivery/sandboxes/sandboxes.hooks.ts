import type { Tx } from '../../unit-of-work.ts';

/** A sandbox that is made anew or deleted, by the usernames with which people are signed in to it. */
export interface GoingSandbox {
  usernames: readonly string[];
}

declare module '../../kernel/hooks.ts' {
  interface Hooks {
    /** A sandbox is about to be made anew or deleted. Answers what of it is in use: `1 live browser session`. */
    sandboxGoes: (tx: Tx, sandbox: GoingSandbox) => Promise<readonly string[]>;
  }
}
