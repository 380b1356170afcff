import type { HostAnswer, LogPart, WantedLog } from '../../../domain/code/git-hosts/git-host.port.ts';
import { plainBytes } from '../../../domain/kernel/text/terminal-text-rules.ts';
import type { OutboundHttp } from '../outbound/outbound-http.ts';
import type { TextOrder } from './host-http.ts';
import { SecretMask } from '../programs/secret-mask.ts';
import { limitedForMs, unanswered } from './host-failures.ts';

/** Bytes of a text that are read; what a longer one has at its end is not seen. */
const TEXT_MAX_BYTES = 16 * 1_048_576;
/** Bytes of a part. */
const PART_MAX_BYTES = 64 * 1_024;
/** The host has no such text, or none any more. */
const NONE = new Set([204, 404, 410]);

/** Reads what is new in a text. Hosts give it from its begin on, so only its last bytes are kept on the way. */
export async function readText(
  http: Pick<OutboundHttp, 'send'>,
  name: string,
  { url, credentials, secret, timeoutMs }: TextOrder & { timeoutMs: number },
  wanted: WantedLog,
): Promise<HostAnswer<LogPart>> {
  const order = { url, headers: { accept: 'text/plain' }, credentials, followsRedirects: true, timeoutMs };
  const sent = await http.send({ ...order, maxBytes: TEXT_MAX_BYTES }, async ({ status, headers, body }) => ({
    status,
    headers,
    // What a refusal says is not looked at, but read, so that the connection can be used again.
    ...(await lastOf(body)),
  }));
  if (!sent.isOk && sent.kind === 'too_large')
    return { isOk: true, value: { isThere: true, text: '', next: wanted.from, isCut: true, isTooLarge: true } };
  if (!sent.isOk) return unanswered(sent, name);
  const { status, headers, tail, bytes } = sent.value;
  if (NONE.has(status)) return { isOk: true, value: { isThere: false, text: '', next: wanted.from, isCut: false } };
  if (status >= 300) {
    const retryAfterMs = limitedForMs(status, headers, { message: '', nowMs: Date.now() });
    return {
      isOk: false,
      isTransient: true,
      mayBeDone: false,
      reason: `${name} answered ${status}`,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  }
  return { isOk: true, value: partOf(tail, bytes, wanted, secret) };
}

async function lastOf(body: AsyncIterable<Uint8Array>): Promise<{ tail: Buffer; bytes: number }> {
  let tail = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > 2 * PART_MAX_BYTES) tail = tail.subarray(-PART_MAX_BYTES);
  }
  return { tail: tail.subarray(-PART_MAX_BYTES), bytes };
}

const NEWLINE = 10;

function partOf(tail: Buffer, bytes: number, { from, hasEnded }: WantedLog, secret: string): LogPart {
  const begin = bytes - tail.length;
  const isCut = from < begin;
  // The first line was cut, and with it perhaps what is to be masked.
  const first = isCut ? tail.indexOf(NEWLINE) + 1 || tail.length : Math.min(tail.length, from - begin);
  const fresh = tail.subarray(first);
  const whole = hasEnded ? fresh : fresh.subarray(0, fresh.lastIndexOf(NEWLINE) + 1);
  // Codes within a secret would hide it.
  const { bytes: plain, placeOf } = plainBytes(whole);
  const end = hasEnded ? plain.length : knownEnd(plain, secret);
  const shown = masked(plain.subarray(0, end), secret);
  return {
    isThere: true,
    text: shown.toString('utf8'),
    next: Math.max(from, begin + first) + (end < plain.length ? placeOf(end) : whole.length),
    isCut,
  };
}

function masked(bytes: Buffer, secret: string): Buffer {
  const mask = new SecretMask(secret);
  return Buffer.concat([mask.take(bytes), mask.end()]);
}

/** Up to where it is known what is to be masked, whatever comes next: the end of a line, unless a secret goes beyond it. */
function knownEnd(bytes: Buffer, secret: string): number {
  const mask = new SecretMask(secret);
  mask.take(bytes);
  const held = bytes.length - mask.end().length;
  if (held === bytes.length || held === 0) return held;
  const line = bytes.lastIndexOf(NEWLINE, held - 1) + 1;
  const apart = [masked(bytes.subarray(0, line), secret), masked(bytes.subarray(line, held), secret)];
  return Buffer.concat(apart).equals(masked(bytes.subarray(0, held), secret)) ? line : held;
}
