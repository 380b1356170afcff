/** What the workflow that shows a request in its work item is named by, in its tenant. */
export interface ReportedRequestKey {
  requestId: string;
  repositoryIdentifier: string;
}

declare module '../kernel/signals.port.ts' {
  interface Signals {
    /** The work item of a request is to show something new. */
    workItemReport: ReportedRequestKey;
  }
}
