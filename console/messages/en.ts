import { attention } from './en/attention.ts';
import { candidates } from './en/candidates.ts';
import { changes } from './en/changes.ts';
import { environments } from './en/environments.ts';
import { gates } from './en/gates.ts';
import { hotfix } from './en/hotfix.ts';
import { inbox } from './en/inbox.ts';
import { parts } from './en/parts.ts';
import { run } from './en/run.ts';
import { runs } from './en/runs.ts';
import { shell } from './en/shell.ts';
import { where } from './en/where.ts';
import { workItems } from './en/work-items.ts';

/** All words of the console in English, by place; what has parameters is a function. */
export const en = {
  parts,
  shell,
  attention,
  environments,
  gates,
  changes,
  where,
  candidates,
  hotfix,
  inbox,
  run,
  runs,
  workItems,
} as const;
