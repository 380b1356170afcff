declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** The id of a request whose work item is to show something new. */
    workItemReport: string;
  }
}
