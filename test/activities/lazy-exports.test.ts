import { runInNewContext } from 'node:vm';
import lazyExports from '../../activities/lazy-exports.ts';

test('a file is run when its name is read, and no other', () => {
  const read: string[] = [];
  const context = {
    exports: {} as Record<string, unknown>,
    require(path: string) {
      read.push(path);
      return { flowRun: 'a run', sweeper: 'a sweeper' };
    },
  };
  runInNewContext(lazyExports("export { flowRun } from './a.ts';\nexport { sweeper } from './b.ts';\n"), context);
  expect(read).toEqual([]);
  expect(context.exports.flowRun).toBe('a run');
  expect(read).toEqual(['./a.ts']);
  expect(Object.keys(context.exports)).toEqual(['flowRun', 'sweeper']);
});

test('a module with anything else is refused', () => {
  expect(() => lazyExports("export { a } from './a.ts';\nexport * from './b.ts';\n")).toThrow(
    "export * from './b.ts';",
  );
});
