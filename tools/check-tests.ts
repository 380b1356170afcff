/** Prints what makes tests depend on the speed of the machine; ends with 1 when there is something. */
import { globSync, readFileSync } from 'node:fs';
import { speedProblems } from './test-speed-rules.ts';

const problems = globSync('test/**/*.ts')
  .toSorted()
  .flatMap((file) => speedProblems(file, readFileSync(file, 'utf8')));
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
