import { attention } from './en/attention.ts';
import { environments } from './en/environments.ts';
import { parts } from './en/parts.ts';
import { shell } from './en/shell.ts';

/** All words of the console in English, by place; what has parameters is a function. */
export const en = {
  parts,
  shell,
  attention,
  environments,
} as const;
