import { testFiles } from './test/support/projects.ts';

const files = testFiles();
const project = (displayName, more = {}) => ({
  displayName,
  roots: ['<rootDir>/test'],
  testMatch: files[displayName].map((file) => `<rootDir>/${file}`),
  testEnvironment: './test/support/environment.ts',
  runtime: './test/support/runtime.ts',
  transform: {},
  ...more,
});
const withServers = {
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
};

export default {
  projects: [project('rules'), project('service', withServers), project('processes', withServers)],
  testSequencer: './test/support/sequencer.ts',
  reporters: ['default', './test/support/suite-report.ts'],
  // Tests wait more than they work: for processes to start, for databases to be cloned, for timers.
  maxWorkers: 4,
  // Keeps a test that hangs from hanging for ever; how long a test may take is for the budgets of CPU.
  testTimeout: 180_000,
  // A process that has loaded new modules keeps them compiled when it ends, which takes up to a second of CPU. Jest would
  // kill it after half a second, and the next run would compile them again.
  workerGracefulExitTimeout: 60_000,
};
