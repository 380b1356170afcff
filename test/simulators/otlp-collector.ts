import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
}

/** The JSON form of `ExportTraceServiceRequest`, as far as tests look at it (OTLP 1.x over HTTP). */
interface ExportRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: { traceId: string; name: string }[] }[];
  }[];
}

export interface OtlpCollector {
  url: string;
  spans: () => CollectedSpan[];
  close: () => Promise<void>;
}

/** A collector of traces on loopback: takes `POST /v1/traces` and keeps what it gets. */
export async function otlpCollector(): Promise<OtlpCollector> {
  const collected: CollectedSpan[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (incoming.url !== '/v1/traces' || incoming.method !== 'POST') return void response.writeHead(404).end();
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ExportRequest;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      collected.push(
        ...scopeSpans.flatMap(({ spans }) => spans).map(({ traceId, name }) => ({ service, name, traceId })),
      );
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => collected,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
