import type { ModelProvider, ModelUsage } from '../../../domain/projects/integrations/model-provider-rules.ts';

/** A request as both interfaces have it. */
export interface SimulatedRequest {
  provider: ModelProvider;
  model: string;
  system: string;
  messages: { role: string; text: string }[];
  /** Undefined: none was sent. */
  schema: Record<string, unknown> | undefined;
  maxTokens: number;
  /** Everything that was sent, as text. */
  sent: string;
}

/**
 * What the simulator does with a request.
 * - `answer`: the text, else what `answerOf` makes of the request
 * - `limited`: 429; `status`: that status, with an error of that code
 * - `quota`: 429 that waiting does not cure
 * - `broken`: the connection ends after some pieces; `silent`: before the first; `error`: an error within the stream
 * - `refusal`, `length`: the answer ends for that reason
 * - `invalid-json`, `invented-citations`, `hostile-markdown`: answers as models should not give them
 * - `trickle`: a piece at a time, for ever; `hang`: nothing at all
 * - `html`: a page instead of a stream; `no-usage`: tokens are not told
 * - `plain`: knows neither schemas nor other parameters that are new, as old compatible servers
 */
export type ModelBehavior =
  | {
      kind: 'answer' | 'no-usage' | 'plain';
      text?: string;
      usage?: Partial<ModelUsage>;
      /** Between pieces. */
      pauseMs?: number;
      /** Keeps the end of the answer. */
      until?: Promise<void>;
    }
  | { kind: 'limited'; retryAfter?: number }
  | { kind: 'status'; status: number; code?: string; message?: string }
  | { kind: 'trickle'; everyMs?: number }
  | {
      kind:
        | 'quota'
        | 'broken'
        | 'silent'
        | 'error'
        | 'refusal'
        | 'length'
        | 'invalid-json'
        | 'invented-citations'
        | 'hostile-markdown'
        | 'hang'
        | 'html';
    };

export const BEHAVIORS: readonly ModelBehavior['kind'][] = [
  'answer',
  'no-usage',
  'plain',
  'limited',
  'status',
  'trickle',
  'quota',
  'broken',
  'silent',
  'error',
  'refusal',
  'length',
  'invalid-json',
  'invented-citations',
  'hostile-markdown',
  'hang',
  'html',
];

/** Names of facts in what was asked, without those of the instructions. */
const factsIn = ({ messages }: SimulatedRequest): string[] => [
  ...new Set(messages.flatMap(({ text }) => text.match(/\bF[1-9]\d*\b/g) ?? [])),
];

const report = (entry: string, facts: readonly string[]) =>
  JSON.stringify({
    summary: `${entry}: summary`,
    risks: [{ text: `${entry}: risk`, severity: 'high', facts: facts.slice(0, 2) }],
    recommendations: [{ text: `${entry}: recommendation`, facts: facts.slice(0, 1) }],
  });

const HOSTILE =
  '![x](https://evil.example.com/pixel.png) [click](javascript:alert(1)) <script>alert(1)</script> <img src=x onerror=alert(1)> ```\n# Heading\n| a | b |\n<!-- hidden --> https://evil.example.com';

/** A report on the facts that the request names, or a poor one. */
export function answerOf(request: SimulatedRequest, { kind, ...behavior }: ModelBehavior): string {
  const facts = factsIn(request);
  if (kind === 'invalid-json') return 'Certainly! Here is the report: {"summary": "cut off';
  if (kind === 'hostile-markdown') return report(HOSTILE, facts);
  if (kind === 'invented-citations')
    return JSON.stringify({
      summary: 'Invented: summary',
      risks: [
        { text: 'Invented: risk', severity: 'low', facts: ['F99999'] },
        { text: 'Partly invented: risk', severity: 'medium', facts: ['F99998', ...facts.slice(0, 1)] },
        { text: 'Uncited: risk', severity: 'low', facts: [] },
      ],
      recommendations: [{ text: 'Invented: recommendation', facts: ['F0', 'X1'] }],
    });
  return 'text' in behavior && behavior.text !== undefined ? behavior.text : report('Simulated', facts);
}

/** The pieces that an answer comes in. */
export const piecesOf = (text: string): string[] => text.match(/[^]{1,24}/g) ?? [''];

/** The tokens that are told for a request and its answer. */
export function usageOf(request: SimulatedRequest, text: string, behavior: ModelBehavior): ModelUsage {
  return {
    input: Math.ceil((request.system.length + request.messages.reduce((sum, each) => sum + each.text.length, 0)) / 4),
    output: Math.ceil(text.length / 4),
    reasoning: 0,
    cacheRead: 0,
    cacheWrite: 0,
    ...('usage' in behavior && behavior.usage),
  };
}
