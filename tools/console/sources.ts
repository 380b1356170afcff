import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the console is made of: itself, the client, and what the service's document follows from. */
const SOURCES = [
  'package-lock.json',
  'console/**/*.{ts,tsx,css,html,json,svg}',
  'clients/typescript/{package.json,tsconfig*.json,src/*.ts}',
  'tools/{clients,console}/*.ts',
  '{api,domain}/**/*.ts',
];
const isMade = (file: string): boolean => /^console\/(dist|node_modules)\//.test(file);

/** A hash of everything that the build of the console reads. */
export function consoleSources(root: string): string {
  const files = globSync(SOURCES, { cwd: root }).filter((file) => !isMade(file));
  const hash = createHash('sha256');
  for (const file of files.toSorted()) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 24);
}
