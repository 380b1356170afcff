import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { expressionProblem } from '../domain/documents/expression-rules.ts';
import { compileKeyFinder } from '../domain/projects/work-items/work-item-patterns.ts';
import { checkBounds } from '../domain/insight/metrics/expression-bound-rules.ts';
import { tokensOf } from '../domain/insight/metrics/expression-token-rules.ts';
import { compileStep } from '../domain/mocks/scenarios/compile-step.ts';
import { mockRequest } from '../domain/mocks/serving/mock-request.ts';
import { matchesPattern } from '../domain/kernel/text/pattern-rules.ts';
import { compileTemplate } from '../domain/events/webhooks/body-template.ts';
import { compileFilter } from '../domain/events/webhooks/filter-rules.ts';
import { compileLinearRegex } from '../domain/events/webhooks/linear-regex.ts';
import { PatternWorkError, withPatternWork } from '../domain/events/webhooks/pattern-work.ts';
import { Figures, quantile } from './figures.ts';
import { type Attack, MOCK_ATTACKS } from './hostile-attacks.ts';
import { longestTurns } from './hostile-turns.ts';
import { generate, unexpected } from './load.ts';
import { beginProbes } from './probes.ts';
import { startService } from './service.ts';

/**
 * Measures the worst that users can write at the places of docs/bounds.md: how long one evaluation takes, and what
 * requests to mocks that evaluate it again and again cost `GET /healthz` and another tenant. Options: `--rounds 3`,
 * `--seconds 8` of each attack, `--per-second 50` ordinary requests, `--only evaluations`, `turns` or `attacks`, `--attack` one kind.
 * Turns are measured by the CPU of the main thread: whatever else the machine does they say what a stall would be.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
    'per-second': { type: 'string', default: '50' },
    only: { type: 'string' },
    attack: { type: 'string' },
  },
});
const PROBE_EVERY_MS = 10;
const ATTACKERS = 8;

/** The most that the places allow one evaluation, see docs/bounds.md. */
const STEP_UNITS = 1_250_000;
const FILTER_UNITS = 500_000;

function judged({ match, body, headers }: Attack): () => void {
  const step = compileStep({
    seq: 1,
    request: { method: 'POST', path: '/**', ...match },
    response: { status: 200 },
    times: null,
  });
  return () => {
    const called = mockRequest('POST', '/a', headers, Buffer.from(body));
    withPatternWork(STEP_UNITS, () => step.matches(called, {}));
  };
}

function otherEvaluations(): Record<string, () => void> {
  const filter = compileFilter({ 'data.text': { regex: '(a?){120}[^a]' } }, compileLinearRegex);
  const event = { data: { text: 'a'.repeat(1_000) } };
  const template = compileTemplate('{{ data.text }}'.repeat(1_000));
  const large = { data: { text: 'x'.repeat(4_000) } };
  const keys = compileKeyFinder('(a?){480}[^a]');
  const message = 'a'.repeat(64 * 1_024);
  const expression = `${'sum('.repeat(49)}x${')'.repeat(49)}${'+x{a="b"}'.repeat(190)}`;
  return {
    'filter of a webhook': () => withPatternWork(FILTER_UNITS, () => filter(event)),
    'body template': () => void template(large),
    'pattern of work items in a message': () => void keys(message),
    MetricsQL: () => checkBounds(tokensOf(expression.padEnd(16_000, ' '))),
    'pattern of branches': () => void matchesPattern('*a'.repeat(125), 'a'.repeat(250)),
    'reading an expression of documents': () => void expressionProblem('(a{1,9}){1,9}'.repeat(19)),
  };
}

const figures = new Figures();
const isAsked = (attack: string): boolean => options.attack === undefined || options.attack === attack;

function measureEvaluations(): void {
  const places = Object.entries(MOCK_ATTACKS).map(([name, attack]) => [`mock: ${name}`, judged(attack)] as const);
  for (const [name, evaluate] of [...places, ...Object.entries(otherEvaluations())])
    for (let round = 1; round <= Number(options.rounds); round++) {
      let outcome = '';
      const before = process.threadCpuUsage();
      try {
        evaluate();
      } catch (error) {
        if (!(error instanceof PatternWorkError)) throw error;
        outcome = ' (cut)';
      }
      const { user, system } = process.threadCpuUsage(before);
      figures.note(`CPU of one evaluation, ${name}${outcome}`, (user + system) / 1_000, 'ms', '<= 50');
    }
}

async function measureAttacks(): Promise<void> {
  const service = await startService([]);
  try {
    const { port } = new URL(service.url);
    const other = await service.addTenant('other');
    const generator = await service.start('http-load.ts');
    const seconds = Number(options.seconds);
    const ordinary = () =>
      generate(generator, {
        url: service.url,
        token: other.token,
        requests: [{ method: 'GET', path: '/api/projects' }],
        connections: 16,
        count: Number(options['per-second']) * seconds,
        perSecond: Number(options['per-second']),
      });
    const targets = new Map<string, string>();
    for (const [name, { match, response }] of Object.entries(MOCK_ATTACKS)) {
      if (!isAsked(name)) continue;
      const workspace = name.replaceAll(' ', '-').toLowerCase();
      const root = `/api/mocks/workspaces/${workspace}/scenarios`;
      const steps = Array.from({ length: 20 }, () => ({
        request: { method: 'POST', path: '/**', ...match },
        response: { status: 200, ...response },
      }));
      const { baseUrl } = await service.call<{ baseUrl: string }>('POST', root, { name: 'attack', steps });
      await service.call('POST', `${root}/attack/arm`);
      targets.set(name, `${new URL(baseUrl).pathname}/a`);
    }
    await ordinary();
    for (let round = 1; round <= Number(options.rounds); round++) {
      console.log(`round ${round}`);
      for (const [name, { body, headers }] of Object.entries(MOCK_ATTACKS)) {
        if (!isAsked(name)) continue;
        const quiet = beginProbes(port, PROBE_EVERY_MS);
        const alone = await ordinary();
        const quietWaits = await quiet.end();
        const attack = beginAttack(port, targets.get(name) ?? '', headers, Buffer.from(body));
        const probes = beginProbes(port, PROBE_EVERY_MS);
        const beside = await ordinary();
        const waits = await probes.end();
        console.log(name, JSON.stringify(await attack.end()));
        const [before, after] = [quantile(alone.latenciesMs, 0.95), quantile(beside.latenciesMs, 0.95)];
        figures.note(`${name}: /healthz p99, alone`, quantile(quietWaits, 0.99));
        figures.note(`${name}: /healthz p99, beside it`, quantile(waits, 0.99), 'ms', '<= 50');
        figures.note(`${name}: p95 of another tenant, alone`, before);
        figures.note(`${name}: p95 of another tenant, beside it`, after);
        figures.note(`${name}: growth`, after / before, 'x', '<= 1.5');
        figures.note(`${name}: other answers than 200`, unexpected(alone, 200) + unexpected(beside, 200), '', '0');
        // The share of the tenant is whole again.
        await sleep(1_000);
      }
    }
  } finally {
    await service.stop();
  }
}

/** Sends a request again and again on several connections; `end` counts the answers by status. */
function beginAttack(port: string, path: string, headers: Record<string, string>, body: Buffer) {
  const agent = new Agent({ keepAlive: true, maxSockets: ATTACKERS });
  const statuses: Record<number, number> = {};
  const over = new AbortController();
  const send = () =>
    new Promise<number>((resolve, reject) => {
      const sent = request({
        port,
        path,
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': body.length },
      });
      sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
      sent.on('error', reject);
      sent.end(body);
    });
  const running = Array.from({ length: ATTACKERS }, async () => {
    while (!over.signal.aborted) {
      const status = await send();
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 429) await sleep(100);
    }
  });
  return {
    async end() {
      over.abort();
      await Promise.all(running);
      agent.destroy();
      return statuses;
    },
  };
}

async function measureTurns(): Promise<void> {
  for (let round = 1; round <= Number(options.rounds); round++)
    for (const [name, attack] of Object.entries(MOCK_ATTACKS).filter(([one]) => isAsked(one)))
      figures.note(`longest turn by CPU, ${name}`, await longestTurns(attack), 'ms', '<= 15');
}

const asked = (part: string): boolean => options.only === undefined || options.only === part;
if (asked('evaluations')) measureEvaluations();
if (asked('turns')) await measureTurns();
if (asked('attacks')) await measureAttacks();
figures.print();
