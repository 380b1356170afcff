import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const MODULE = /\/generated\/sdk\.gen\.js$/;
const ONE = '?operation=';
/** What the generator writes for each operation: a line that begins the statement, and those that are indented or close it. */
const OPERATION = /^export const (\w+) = .*(?:\n[ }].*)*/gm;

/**
 * Makes a module of each operation of the client, so that a chunk holds only the operations of its own pages: a module is in one
 * chunk, and the client has all operations in one.
 */
export function splitOperations(): Plugin {
  return {
    name: 'quayside-split-operations',
    enforce: 'pre',
    load(id) {
      const [file = '', name] = id.split(ONE);
      if (!MODULE.test(file)) return undefined;
      const text = readFileSync(file, 'utf8');
      const operations = new Map(Array.from(text.matchAll(OPERATION), ([statement, each = '']) => [each, statement]));
      if (name !== undefined) {
        const imports = text.match(/^import .*$/gm) ?? [];
        return { code: [...imports, operations.get(name)].join('\n'), moduleSideEffects: false };
      }
      const lines = Array.from(operations.keys(), (each) => `export { ${each} } from '${file}${ONE}${each}';`);
      return { code: lines.join('\n'), moduleSideEffects: false };
    },
  };
}
