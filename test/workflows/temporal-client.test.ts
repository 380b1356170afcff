import { spawnSync } from 'node:child_process';

const SCRIPT = `
  import { createTemporalClient } from './workflows/temporal-client.ts';
  const client = createTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
  const calls = Array.from({ length: 5 }, () => client.connection.workflowService.getSystemInfo({}).catch(() => 'refused'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.connection.close();
  console.log((await Promise.all(calls)).join());
`;

test('a client is closed while it repeats calls that Temporal did not answer: they end, and so does the process, in peace', () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = ['--input-type=module', '--eval', SCRIPT];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: `${import.meta.dirname}/../..`,
    env,
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'refused,refused,refused,refused,refused\n',
    stderr: '',
  });
});
