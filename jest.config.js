export default {
  testEnvironment: './test/support/environment.ts',
  runtime: './test/support/runtime.ts',
  testSequencer: './test/support/sequencer.ts',
  testMatch: ['**/test/**/*.test.ts'],
  transform: {},
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  reporters: ['default', './test/support/slowest-files.ts'],
  maxWorkers: 2,
  // Keeps a test that hangs from hanging for ever; how long a test takes is for the budgets of CPU.
  testTimeout: 180_000,
};
