import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { rewritePlaylist } from '../domain/review/browser-sessions/recordings/playlist-rules.ts';
import { referencesExpireAt, referencesOf } from '../domain/review/browser-sessions/recordings/replay-references.ts';
import { createEncryption } from '../domain/kernel/encryption/encryption.ts';
import { newId } from '../domain/kernel/shared/ids.ts';
import { generateKeys } from '../domain/kernel/encryption/keys.ts';
import { browserbaseSimulator } from '../test/simulators/browserbase/simulator.ts';
import { Figures, quantile } from './figures.ts';
import { startService } from './service.ts';

/**
 * Measures recordings of a hosted browser, played through the API from a simulator on loopback: a playlist of 2,000
 * segments, rewritten alone and as a request, and segments of 16 MB. Options: `--rounds 3`.
 */
const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const SEGMENTS = 2_000;
const SEGMENT = randomBytes(16 * 1_048_576);
const PARALLEL = 2;

const simulator = await browserbaseSimulator();
simulator.serve('/large.m4s', (_, response) => {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': SEGMENT.length }).end(SEGMENT);
});
const signature = 'a'.repeat(300);
const playlist = [
  '#EXTM3U',
  '#EXTINF:2.0,',
  '{cdn}/large.m4s',
  ...Array.from({ length: SEGMENTS }, (_, n) => `#EXTINF:2.0,\n{cdn}/segment-${n}.m4s?Signature=${signature}`),
].join('\n');
simulator.playlist = playlist;

const service = await startService([]);
const figures = new Figures();
try {
  const { id: projectId } = await service.call<{ id: string }>('POST', '/api/projects', {
    identifier: 'bench/shop',
    platform: 'host-a',
  });
  await service.call('POST', '/api/integrations', {
    kind: 'browser',
    name: 'Browsers',
    baseUrl: simulator.url,
    credentials: { type: 'token', token: simulator.apiKey },
  });
  const headers = { 'x-bb-api-key': simulator.apiKey };
  const created = await fetch(`${simulator.url}/v1/sessions`, { method: 'POST', headers, body: '{}' });
  const { id: providerSessionId } = (await created.json()) as { id: string };
  simulator.end(providerSessionId, 'COMPLETED');
  const sessionId = newId();
  await service.database.query(
    `insert into browser_session (id, tenant_id, project_id, org_username, provider, status, minutes, viewport, created_by,
       expires_at, recording_state, provider_session_id)
     values ($1, $2, $3, 'review@example.com', 'browserbase', 'ended', 15, '{}', '{}', now(), 'ready', $4)`,
    [sessionId, service.tenantId, projectId, providerSessionId],
  );
  const get = (address: string) => fetch(address, { headers: { authorization: `Bearer ${service.ownerToken}` } });
  const playlistUrl = `${service.url}/api/browser-sessions/${sessionId}/replays/0`;

  const encryption = createEncryption(generateKeys().encryptionKeys);
  const page = { tenantId: service.tenantId, sessionId, pageId: '0' };
  const expiresAtS = referencesExpireAt(new Date(), 6);
  const body = Buffer.from(playlist.replaceAll('{cdn}', simulator.cdnUrl));

  for (let round = 0; round < Number(options.rounds); round++) {
    const alone = [];
    const requests = [];
    let segment = '';
    for (let n = 0; n < 40; n++) {
      const begin = performance.now();
      rewritePlaylist(body, simulator.cdnUrl, (addresses) => referencesOf(encryption, page, expiresAtS, addresses));
      alone.push(performance.now() - begin);
    }
    for (let n = 0; n < 40; n++) {
      const begin = performance.now();
      const answer = await get(playlistUrl);
      const text = await answer.text();
      requests.push(performance.now() - begin);
      segment = /^http.*$/m.exec(text)?.[0] ?? '';
    }
    figures.note(`playlist of ${SEGMENTS} segments rewritten, p50`, quantile(alone, 0.5), 'ms', '≤ 10');
    figures.note('the request for it, with the answer of the provider, p50', quantile(requests, 0.5));
    figures.note('the request for it, with the answer of the provider, p95', quantile(requests, 0.95));

    const before = service.apiMegabytes();
    const begin = performance.now();
    let bytes = 0;
    let largest = before;
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        for (let n = 0; n < 20; n++) {
          for await (const chunk of (await get(segment)).body ?? []) bytes += chunk.length;
          largest = Math.max(largest, service.apiMegabytes());
        }
      }),
    );
    const seconds = (performance.now() - begin) / 1_000;
    figures.note(`segments of 16 MB, ${PARALLEL} at once`, bytes / 1_048_576 / seconds, 'MB/s', '≥ 200');
    figures.note('growth of the API process meanwhile', largest - before, 'MB', '≤ 40');
  }
  figures.print();
} finally {
  await service.stop();
  await simulator.close();
}
