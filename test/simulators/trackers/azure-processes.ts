interface State {
  name: string;
  category: 'Proposed' | 'InProgress' | 'Resolved' | 'Completed' | 'Removed';
}

/** States of the types of work items, which differ by process: https://learn.microsoft.com/azure/devops/boards/work-items/workflow-and-state-categories */
export type Process = Record<string, readonly State[]>;

const states = (given: Partial<Record<State['category'], string>>): State[] =>
  (['Proposed', 'InProgress', 'Resolved', 'Completed', 'Removed'] as const).flatMap((category) =>
    (given[category] ?? '')
      .split(',')
      .filter((name) => name !== '')
      .map((name) => ({ name, category })),
  );

const AGILE = states({
  Proposed: 'New',
  InProgress: 'Active',
  Resolved: 'Resolved',
  Completed: 'Closed',
  Removed: 'Removed',
});
const BACKLOG = states({ Proposed: 'New,Approved', InProgress: 'Committed', Completed: 'Done', Removed: 'Removed' });
const BASIC = states({ Proposed: 'To Do', InProgress: 'Doing', Completed: 'Done' });

export const PROCESSES = {
  agile: {
    Epic: AGILE,
    'User Story': AGILE,
    Bug: states({ Proposed: 'New', InProgress: 'Active', Resolved: 'Resolved', Completed: 'Closed' }),
    Task: states({ Proposed: 'New', InProgress: 'Active', Completed: 'Closed', Removed: 'Removed' }),
  },
  scrum: {
    'Product Backlog Item': BACKLOG,
    Bug: BACKLOG,
    Task: states({ Proposed: 'To Do', InProgress: 'In Progress', Completed: 'Done', Removed: 'Removed' }),
  },
  basic: { Epic: BASIC, Issue: BASIC, Task: BASIC },
} satisfies Record<string, Process>;
export type ProcessName = keyof typeof PROCESSES;
