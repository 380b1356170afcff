export default {
  testEnvironment: './test/support/environment.ts',
  runtime: './test/support/runtime.ts',
  testSequencer: './test/support/sequencer.ts',
  testMatch: ['**/test/**/*.test.ts'],
  transform: {},
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  reporters: ['default', './test/support/slowest-files.ts'],
  // Test files wait for processes more than they compute: a third one uses what two leave idle on two cores.
  maxWorkers: 3,
  testTimeout: 30_000,
};
