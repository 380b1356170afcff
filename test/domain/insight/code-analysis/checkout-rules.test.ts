import { isLeftOut, whyTooLarge } from '../../../../domain/insight/code-analysis/jobs/checkout-rules.ts';

test.each([
  '.eslintrc',
  '.eslintrc.js',
  'force-app/.eslintrc.json',
  'eslint.config.mjs',
  'a/b/eslint.config.ts',
  'code-analyzer.yml',
  'Code-Analyzer.YAML',
  'babel.config.cjs',
  '.babelrc.js',
  'node_modules/react/index.js',
  'a/node_modules/react/package.json',
  'a/Node_Modules/b\nc.js',
  '.pnp.cjs',
])('%j is kept away from the analyzer', (path) => {
  expect(isLeftOut(path)).toBe(true);
});

test.each([
  'force-app/main/default/lwc/tile/tile.js',
  'eslint.config/tile.js',
  'my.eslintrc.js',
  'package.json',
  'src/node_modules.js',
])('%j is analysed', (path) => {
  expect(isLeftOut(path)).toBe(false);
});

test('a checkout has its limits', () => {
  expect(whyTooLarge({ files: 50_000, bytes: 500_000_000 })).toBeUndefined();
  expect(whyTooLarge({ files: 50_001, bytes: 0 })).toBe(
    'The commit has more than 50,000 files, the most that is analysed',
  );
  expect(whyTooLarge({ files: 1, bytes: 500_000_001 })).toBe(
    'The files of the commit have more than 500 MB, the most that is analysed',
  );
});
