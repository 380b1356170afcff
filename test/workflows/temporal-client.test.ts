import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createTemporalClient } from '../../workflows/temporal-client.ts';
import { GRPC } from '../../workflows/temporal-errors.ts';
import { eventually } from '../support/eventually.ts';

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
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'refused,refused,refused,refused,refused\n',
    stderr: '',
  });
});

test('a call that has no deadline is given up after some forty attempts', async () => {
  const client = createTemporalClient({ address: '127.0.0.1:1', namespace: 'default', pace: 0.1 });
  // With pauses that grow to five seconds, as those of the SDK do, this would outlast the test.
  await expect(client.connection.workflowService.getSystemInfo({})).rejects.toMatchObject({ code: GRPC.UNAVAILABLE });
  await client.connection.close();
});

test('a client goes on trying to connect at short intervals, so that it soon sees an engine that is back', async () => {
  let tries = 0;
  const refusing = createServer((socket) => {
    tries++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const address = `127.0.0.1:${(refusing.address() as AddressInfo).port}`;
  const client = createTemporalClient({ address, namespace: 'default', pace: 0.1 });
  try {
    // By the pauses of gRPC, which grow to two minutes, so many tries would take five minutes.
    await eventually(
      async () => {
        await client.connection.workflowService.getSystemInfo({}).catch(() => undefined);
        return tries;
      },
      (count) => count >= 12,
    );
  } finally {
    await client.connection.close();
    refusing.close();
  }
});
