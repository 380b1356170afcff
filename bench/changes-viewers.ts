import { Agent, get } from 'node:http';

/** Streams to open: so many with each token. */
export interface ViewersOf {
  url: string;
  tokens: readonly string[];
  each: number;
}

/** When things were named to each stream that was told of them: milliseconds since 1970 by the id of the thing. */
export type SeenAt = Record<string, number[]>;

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
const seenAt: SeenAt = {};
let resets = 0;

const nowMs = () => performance.timeOrigin + performance.now();

/** Resolves when the stream has begun. */
const open = (url: string, token: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const asked = get(`${url}/api/changes?topics=environment`, {
      agent,
      headers: { authorization: `Bearer ${token}` },
    });
    asked.once('error', reject);
    asked.once('response', (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`a stream was answered with ${answer.statusCode}`));
      let rest = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        const at = nowMs();
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          if (block.includes('event: hello')) resolve();
          if (block.includes('event: reset')) resets++;
          if (!block.includes('event: changes')) continue;
          const changes = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '[]') as { id: string }[];
          for (const { id } of changes) (seenAt[id] ??= []).push(at);
        }
      });
    });
  });

/** Opens the streams of one token after the other. */
async function openAll({ url, tokens, each }: ViewersOf): Promise<void> {
  for (const token of tokens) await Promise.all(Array.from({ length: each }, () => open(url, token)));
}

process.on('message', (message: ViewersOf | 'report' | 'leave') => {
  if (message === 'leave') {
    agent.destroy();
    process.send?.('left');
  } else if (message === 'report') process.send?.({ seenAt, resets });
  else {
    openAll(message).then(
      () => process.send?.('opened'),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  }
});
process.send?.('ready');
