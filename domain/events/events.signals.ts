declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** The id of a webhook that has something new to deliver, or is delivered to again. */
    webhook: string;
  }
}
