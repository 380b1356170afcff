import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assertFitMetricsStore } from '../../../../activities/insight/parts.ts';
import { parseConfig } from '../../../../domain/kernel/settings/config.ts';

const refuse = (url: string) =>
  assertFitMetricsStore(
    parseConfig({ DATABASE_URL: 'postgres://a/b', TEMPORAL_ADDRESS: 'a:1', NODE_ENV: 'test', METRICS_URL: url }),
  );

test('a store that would count windows several times is refused, one that is away is not', async () => {
  let flags = '-retentionPeriod="12"\n';
  const server = createServer((_, response) => void response.end(flags)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await expect(refuse(url)).rejects.toThrow(
    'The metrics store that METRICS_URL names does not keep one sample of each five minutes: start it with -dedup.minScrapeInterval=5m.',
  );
  flags += '-dedup.minScrapeInterval="5m0s"\n';
  await refuse(url);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await refuse(url);
});

test('the store of the tests is fit', () => refuse(process.env.QS_TEST_METRICS_URL ?? ''));
