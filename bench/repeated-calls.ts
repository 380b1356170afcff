import { request } from 'undici';
import { type Figures, quantile } from './figures.ts';
import type { Service } from './service.ts';

const REPEATS = 40;

/** Milliseconds of one answer, and its size as it came. @param sent posted; without it, the path is read. */
export async function timed(
  { url, token }: Service,
  path: string,
  sent?: object,
): Promise<{ ms: number; kilobytes: number; headers: Record<string, unknown> }> {
  const sentAt = performance.now();
  const { statusCode, headers, body } = await request(url + path, {
    headers: {
      authorization: `Bearer ${token}`,
      'accept-encoding': 'gzip',
      ...(sent && { 'content-type': 'application/json' }),
    },
    ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
  });
  const bytes = (await body.arrayBuffer()).byteLength;
  if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`);
  return { ms: performance.now() - sentAt, kilobytes: bytes / 1_024, headers };
}

/** Notes the 95th percentile of repeated calls, and their CPU. */
export async function noteRepeated(
  service: Service,
  figures: Figures,
  name: string,
  path: string,
  target = '',
  sent?: object,
): Promise<void> {
  const times: number[] = [];
  const cpu = service.measureCpu();
  for (let index = 0; index < REPEATS; index++) times.push((await timed(service, path, sent)).ms);
  figures.note(`${name}, p95`, quantile(times, 0.95), 'ms', target);
  figures.noteCpu(name, cpu(), REPEATS);
}
