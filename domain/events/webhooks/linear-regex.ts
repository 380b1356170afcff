import { RE2JS } from 're2js';
import type { CompileRegex } from './filter-rules.ts';
import { usePatternWork } from './pattern-work.ts';

const PATTERN_MAX = 256;
/** Repetition counts multiply the size of the program, and so the time of each step. */
const PROGRAM_MAX = 2_000;
/** Units of pattern work for an instruction that is compiled. */
const COMPILE_UNITS = 22;
/** Only this much of a text is searched: the time is proportional to text × program. */
export const SEARCHED_MAX = 4_096;

/** Regular expressions of users, in RE2's syntax: without backtracking, so none can hang the service; see `withPatternWork`. */
export const compileLinearRegex: CompileRegex = (pattern) => {
  if (pattern.length > PATTERN_MAX) throw new Error(`longer than ${PATTERN_MAX} characters`);
  const compiled = RE2JS.compile(pattern);
  const size = compiled.programSize();
  if (size > PROGRAM_MAX) throw new Error('too large when its repetitions are expanded');
  usePatternWork(COMPILE_UNITS * size);
  return (text) => {
    const searched = text.slice(0, SEARCHED_MAX);
    usePatternWork(size * searched.length);
    return compiled.matcher(searched).find();
  };
};
