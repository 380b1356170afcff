const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Words of the inbox: approvals that wait, and those that were decided. */
export const inbox = {
  title: 'Inbox',
  tabs: { mine: 'Waiting for me', open: 'All open', decided: 'Decided' },
  tabsName: 'Which approvals',
  empty: {
    mine: 'Nothing waits for you',
    open: 'Nothing waits for anybody',
    decided: 'Nothing has been decided yet',
  },
  emptyHint: {
    mine: 'Releases to environments that ask for your approval appear here as soon as they are requested.',
    open: 'Releases to environments with an approval policy appear here as soon as they are requested.',
    decided: 'Approvals that were given, refused or not needed any more appear here.',
  },
  emptyFiltered: 'Other projects or environments may have some.',
  environment: 'Environment',
  status: 'Outcome',
  statuses: {
    requested: 'Open',
    approved: 'Approved',
    rejected: 'Rejected',
    expired: 'Expired',
    stale: 'Not needed any more',
  },
  to: (what: string, environment: string) => `${what} → ${environment}`,
  domain: (name: string) => `domain ${name}`,
  askedBy: (who: string) => `Asked by ${who}`,
  expires: 'expires',
  overdue: 'expires now',
  expiresSoon: 'Expires soon',
  run: 'Run',
  changes: (packages: number, commits: number, workItems: number) => {
    if (packages === 0) return 'Changes nothing that runs there';
    const more = [
      ...(commits > 0 ? [counted(commits, 'commit', 'commits')] : []),
      ...(workItems > 0 ? [counted(workItems, 'work item', 'work items')] : []),
    ];
    return `Changes ${[counted(packages, 'package', 'packages'), ...more].join(', ')}`;
  },
  votes: (given: number, needed: number) => `${given} of ${counted(needed, 'approval', 'approvals')}`,
  vote: { approve: 'Approved by', reject: 'Rejected by' },
  approvers: (names: string) => `Decided by ${names}`,
  owners: 'the owners',
  override: (by: string, reason: string) => `Passes windows and freezes by an override of ${by}: ${reason}`,
  youMayNot: (reason: string) => `You may not approve it: ${reason}`,
  tick: (what: string) => `Choose ${what}`,
  tickAll: 'Choose all',
  ticked: (count: number) => `${count} chosen`,
  approve: 'Approve',
  reject: 'Reject',
  approveMany: (count: number) => `Approve ${counted(count, 'request', 'requests')}`,
  rejectMany: (count: number) => `Reject ${counted(count, 'request', 'requests')}`,
  approveHint: 'What waits for them goes on as soon as enough people have approved.',
  rejectHint: 'One rejection is final: the run ends, and has to be requested again.',
  comment: 'Comment',
  commentHint: 'Shown with each decision, and kept.',
  outcomes: 'What came of it',
  hideOutcomes: 'Hide',
  outcome: {
    approved: 'approved',
    rejected: 'rejected',
    counted: 'your approval is counted; others are needed',
    refused: (detail: string) => `not decided: ${detail}`,
    meanwhile: (status: string, by: string) => `${status} by ${by} meanwhile; nothing was changed`,
    meanwhileAlone: (status: string) => `${status} meanwhile; nothing was changed`,
  },
  gone: 'Chosen, but decided meanwhile',
  decidedBy: (status: string, who: string) => `${status} by ${who}`,
  announce: (done: number, all: number) => `${done} of ${all} decided`,
  cut: (shown: number) => `These are ${shown}; there are more. Narrow them by project or environment.`,
} as const;
