import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { request } from 'undici';
import type { ObjectStore } from '../../domain/kernel/objects/object-store.port.ts';
import { OperatorError } from '../operator-error.ts';

const STORE_MS = 3_600_000;
const METRICS = 'metrics.native';

/** Copies every object; answers how many. One that is removed meanwhile is left out. */
export async function copyObjects(from: ObjectStore, to: ObjectStore): Promise<number> {
  let copied = 0;
  for await (const key of from.keys()) {
    const content = await from.get(key);
    if (!content) continue;
    await to.put(key, content, 'application/octet-stream');
    copied++;
  }
  return copied;
}

/** All series, in VictoriaMetrics' native format. https://docs.victoriametrics.com/victoriametrics/#how-to-export-data-in-native-format */
export async function exportMetrics(url: string, folder: string): Promise<void> {
  await makeSearchable(url);
  const body = await ask(url, '/api/v1/export/native', { 'match[]': '{__name__!=""}' });
  await pipeline(body, createWriteStream(join(folder, METRICS), { mode: 0o600 }));
}

export async function importMetrics(url: string, folder: string): Promise<void> {
  await (await ask(url, '/api/v1/import/native', {}, createReadStream(join(folder, METRICS)))).text();
  await makeSearchable(url);
  // Answers that were kept from before do not know what was imported.
  await (await ask(url, '/internal/resetRollupResultCache', {})).text();
}

/** What the store took in the last seconds is in no answer of its own accord. */
async function makeSearchable(url: string): Promise<void> {
  await (await ask(url, '/internal/force_flush', {})).text();
}

async function ask(url: string, path: string, query: Record<string, string>, content?: Readable) {
  const address = `${url.replace(/\/$/, '')}${path}?${new URLSearchParams(query)}`;
  const { statusCode, body } = await request(address, {
    ...(content && { method: 'POST', body: content }),
    headersTimeout: STORE_MS,
    bodyTimeout: STORE_MS,
  });
  if (statusCode < 300) return body;
  throw new OperatorError(`The metrics store answered ${statusCode}: ${(await body.text()).slice(0, 200)}`);
}

const temporalFile = (folder: string): string => join(folder, 'temporal.db');

/** Copies the store of the embedded engine, which may run; false when there is none. */
export async function copyTemporal(from: string, to: string): Promise<boolean> {
  if (!existsSync(temporalFile(from))) return false;
  const store = new DatabaseSync(temporalFile(from), { readOnly: true });
  try {
    await backup(store, temporalFile(to));
  } finally {
    store.close();
  }
  return true;
}
