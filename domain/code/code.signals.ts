declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** A fetch of a project's remote was requested. */
    mirror: { projectId: string; repositoryIdentifier: string };
  }
}
