import { z } from 'zod';
import type { AnswerSchema } from '../language-models/language-model.port.ts';
import { type Findings, SEVERITIES } from './findings-rules.ts';

const Text = z.string().trim().min(1).max(1_000);
const Citations = z.array(z.string().max(16)).max(50);

/** What a model is to answer. Members beyond these are ignored. */
const FindingsAnswer = z.object({
  summary: z.string().trim().min(1).max(4_000),
  risks: z.array(z.object({ text: Text, severity: z.enum(SEVERITIES), facts: Citations })).max(50),
  recommendations: z.array(z.object({ text: Text, facts: Citations })).max(50),
});

/** Without limits of length and number, which not all providers take. */
const claim = (more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties: { text: { type: 'string' }, ...more, facts: { type: 'array', items: { type: 'string' } } },
  required: ['text', ...Object.keys(more), 'facts'],
  additionalProperties: false,
});

/** JSON Schema of findings, for providers that hold the model to a schema. */
export const FINDINGS_SCHEMA: AnswerSchema = {
  name: 'findings',
  schema: {
    type: 'object',
    properties: {
      summary: { type: 'string' },
      risks: { type: 'array', items: claim({ severity: { type: 'string', enum: [...SEVERITIES] } }) },
      recommendations: { type: 'array', items: claim() },
    },
    required: ['summary', 'risks', 'recommendations'],
    additionalProperties: false,
  },
};

/** The most problems that a model is told of. */
const PROBLEMS_MAX = 10;

/** Without what PostgreSQL's texts and JSON cannot have: U+0000 and unpaired surrogates, which a model may write. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** The findings in a model's answer, or what is wrong with it. Some models put a fence of Markdown around JSON. */
export function readFindings(answer: string): { findings: Findings } | { problems: string[] } {
  const [, fenced] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(answer) ?? [];
  let value: unknown;
  try {
    value = JSON.parse(fenced ?? answer, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each));
  } catch {
    return { problems: ['The answer is not JSON'] };
  }
  const read = FindingsAnswer.safeParse(value);
  if (read.success) return { findings: read.data };
  const problems = read.error.issues
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${path.length === 0 ? 'The answer' : path.join('/')}: ${message}`);
  return { problems };
}
