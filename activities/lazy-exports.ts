const EXPORT = /^export \{ (\w+) \} from ('[^']+');$/gm;

/**
 * A loader of webpack for a module of lines `export { name } from 'path';`: each file is run when its name is first read.
 * The SDK runs the modules of all workflows anew for each execution, and reads the name of one.
 */
export default function lazyExports(source: string): string {
  const rest = source.replaceAll(EXPORT, '').trim();
  if (rest !== '') throw new Error(`not a line of the form export { name } from 'path';: ${rest}`);
  return source.replaceAll(
    EXPORT,
    'Object.defineProperty(exports, "$1", { enumerable: true, get: () => require($2).$1 });',
  );
}
