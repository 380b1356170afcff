declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** The id of a chat workspace with messages to change. */
    chatWorkspace: string;
  }
}
