import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMockUpstream } from '../../../activities/adapters/mocks/mock-upstream.ts';
import { outboundAddresses } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import { findOwnMocks, withoutOwn } from '../../../domain/mocks/serving/own-mocks.ts';
import { createOwnListeners } from '../../../domain/kernel/outbound/own-listeners.ts';

const PUBLIC_URL = 'https://quayside.example.com';
const servers: Server[] = [];
/** A server on any port, and the requests that it got. */
async function listening(host: string) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.end('answered');
  }).listen(0, host);
  servers.push(server);
  await once(server, 'listening');
  return { server, requests, port: (server.address() as AddressInfo).port };
}
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

test.each([
  ['127.0.0.1', 4, 'the loopback'],
  ['127.3.2.1', 4, 'another address of the loopback'],
  ['0.0.0.0', 4, 'the unspecified address'],
  ['::ffff:127.0.0.1', 6, 'the loopback in IPv6'],
])('a name that resolves to %s does not lead to the service: %s %s', async (address, family) => {
  const own = await listening('0.0.0.0');
  const other = await listening('0.0.0.0');
  const listeners = createOwnListeners([]);
  listeners.add(own.server);
  const addresses = outboundAddresses('127.0.0.0/8,0.0.0.0/32,::/0');
  const findOwn = findOwnMocks({ publicUrl: PUBLIC_URL, internalUrl: PUBLIC_URL });
  const { forward, close } = createMockUpstream(withoutOwn(addresses, findOwn, listeners), PUBLIC_URL, (_, done) =>
    done(null, [{ address, family }]),
  );
  const pass = (port: number) =>
    forward(
      { upstream: `http://alias.test:${port}`, method: 'GET', target: '/mocks/x', headers: {}, bytes: Buffer.alloc(0) },
      new AbortController().signal,
    );
  try {
    await expect(pass(own.port)).resolves.toEqual({
      failure: { kind: 'refused', message: 'the service itself is no upstream of a mock scenario' },
    });
    await expect(pass(other.port)).resolves.toMatchObject({ answer: { status: 200 } });
    expect([own.requests.length, other.requests.length]).toEqual([0, 1]);
  } finally {
    await close();
  }
});
