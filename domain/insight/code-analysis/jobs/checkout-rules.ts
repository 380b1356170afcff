/** Largest checkout that is analysed. */
const CHECKOUT_MAX = { files: 50_000, bytes: 500_000_000 };

/**
 * Files by which tools that analyse a folder are configured: the ones of ESLint and Babel are code. Packages are looked up
 * in `node_modules` and by `.pnp` files: eslint-plugin-react runs the `react` that it finds there to learn its version.
 */
const TOOLS =
  /(^|\/)(node_modules\/.*|\.pnp\.[^/]*|\.yarnrc[^/]*|\.npmrc|\.eslintrc[^/]*|\.eslintignore|eslint\.config\.[^/]*|\.?babel\.config[^/]*|\.babelrc[^/]*|\.browserslistrc|code-analyzer\.(ya?ml|json)|\.retireignore[^/]*|\.retirerc[^/]*)$/is;

/** Whether a file of a repository is kept away from the analyzer. */
export const isLeftOut = (path: string): boolean => TOOLS.test(path);

/** Why a checkout is too large to be analysed; undefined: it is not. */
export function whyTooLarge({ files, bytes }: { files: number; bytes: number }): string | undefined {
  if (files > CHECKOUT_MAX.files)
    return `The commit has more than ${CHECKOUT_MAX.files.toLocaleString('en')} files, the most that is analysed`;
  if (bytes > CHECKOUT_MAX.bytes)
    return `The files of the commit have more than ${CHECKOUT_MAX.bytes / 1_000_000} MB, the most that is analysed`;
  return undefined;
}
