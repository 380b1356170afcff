/** The line for the lock of one environment. */
export interface LockLine {
  tenantId: string;
  environmentId: string;
  environmentName: string;
  repositoryIdentifier: string;
}

/** The way to the workflow that gives out an environment's lock; all its facts are rows. */
export interface LockTurns {
  /**
   * Has a ticket that was asked for taken into the line, and waits for it. Throws `EngineUnavailableError` when no
   * answer came within 5 s.
   */
  take: (line: LockLine, ticketId: string) => Promise<void>;
  /** Tells that tickets were given back or extended, without waiting; a word that is lost is made good by the sweep. */
  look: (line: LockLine) => void;
}
