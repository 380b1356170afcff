import { createServer } from 'node:http';
import { nowMs } from './webhooks-clock.ts';

/** What the receiver saw under one path since it was last asked to forget. */
export interface Receipts {
  /** Milliseconds from the trigger to the receipt, one per delivery, by path. */
  latenciesMs: Record<string, number[]>;
  firstAt: number;
  lastAt: number;
  count: number;
}

/** Counts deliveries: under `/hang` it never answers, everywhere else it says 204 at once. Runs as a process of its own. */
let receipts: Receipts = { latenciesMs: {}, firstAt: 0, lastAt: 0, count: 0 };

const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path.startsWith('/hang')) {
    request.resume();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const at = nowMs();
    response.writeHead(204).end();
    const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { data: { sentAt?: number } };
    if (receipts.count++ === 0) receipts.firstAt = at;
    receipts.lastAt = at;
    if (data.sentAt !== undefined) (receipts.latenciesMs[path] ??= []).push(at - data.sentAt);
  });
});
server.keepAliveTimeout = 60_000;

process.on('message', (message: 'count' | 'forget') => {
  process.send?.(message === 'count' ? receipts.count : receipts);
  if (message === 'forget') receipts = { latenciesMs: {}, firstAt: 0, lastAt: 0, count: 0 };
});
process.on('disconnect', () => process.exit(0));
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.({ ready: true }));
