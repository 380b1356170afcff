import type { createDocument } from 'zod-openapi';

/** A call of an operation as the contract tests made it, and its reply. */
export interface ReferenceExample {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  status: number;
  /** Media type and body of the reply; absent for an empty one. */
  reply?: { type: string; body: unknown };
}

/** By operation id. */
export type ReferenceExamples = Readonly<Record<string, ReferenceExample>>;

type OpenApiDocument = ReturnType<typeof createDocument>;
interface Described {
  example?: unknown;
}
interface Operation {
  operationId?: string;
  parameters?: (Described & { in?: string; name?: string; schema?: { type?: unknown } })[];
  requestBody?: { content: Record<string, Described> };
  responses: Record<string, { content?: Record<string, Described> }>;
}

/** Adds the examples to their operations; returns the document. */
export function addExamples(document: OpenApiDocument, examples: ReferenceExamples): OpenApiDocument {
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item) as Operation[]) {
      const example = examples[operation.operationId ?? ''];
      if (example) addExample(operation, example);
    }
  }
  return document;
}

function addExample(operation: Operation, { params, query, body, status, reply }: ReferenceExample): void {
  for (const parameter of operation.parameters ?? []) {
    const values = parameter.in === 'path' ? params : parameter.in === 'query' ? query : undefined;
    const value = values?.[parameter.name ?? ''];
    if (value !== undefined) parameter.example = typed(value, parameter.schema?.type);
  }
  const [requestContent] = Object.values(operation.requestBody?.content ?? {});
  if (requestContent && body !== undefined) requestContent.example = body;
  const replyContent = reply && operation.responses[status]?.content?.[reply.type];
  if (replyContent) replyContent.example = reply.body;
}

/** The value that the text of a parameter stands for. */
function typed(text: string, type: unknown): unknown {
  switch (type) {
    case 'integer':
    case 'number':
    case 'boolean':
      return JSON.parse(text);
    case 'array':
      return text.split(',');
    default:
      return text;
  }
}
