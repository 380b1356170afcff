/** Prints comments and words that CONTRIBUTING.md says not to write; ends with 1 when there are any. */
import { globSync, readFileSync } from 'node:fs';
import { avoidedPhrases, wordProblems } from './word-rules.ts';

const SOURCES = ['{activities,api,bench,domain,test,tools,workflows}/**/*.{ts,mjs}', 'docs/**/*.md', 'README.md'];

const avoided = avoidedPhrases(readFileSync('CONTRIBUTING.md', 'utf8'));
const problems = globSync(SOURCES)
  .toSorted()
  .flatMap((file) => wordProblems(file, readFileSync(file, 'utf8'), avoided));
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;
