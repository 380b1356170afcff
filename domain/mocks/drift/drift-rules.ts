import { compilePath } from '../scenarios/path-template-rules.ts';
import type { StepRequest } from '../scenarios/step-rules.ts';

/** Types by the path of their place in a JSON value; elements of arrays share one place. */
type Shape = ReadonlyMap<string, string>;

const PLACES_MAX = 5_000;
const LEVELS_MAX = 50;

/** What differs between an answer of a step and that of the upstream. */
export type DriftChange =
  | { kind: 'status'; was: number; is: number }
  | { kind: 'missing' | 'added'; path: string; type: string }
  | { kind: 'type'; path: string; was: string; is: string }
  | { kind: 'content_type'; was: string; is: string };

const CHANGES_MAX = 20;

export interface ComparedAnswer {
  status: number;
  contentType: string;
  /** Undefined where it is not JSON. */
  json: { value: unknown } | undefined;
}

/** How an upstream answers otherwise than a step does: by status, type and shape, not by values. */
export function driftBetween(was: ComparedAnswer, is: ComparedAnswer): DriftChange[] {
  if (was.status !== is.status) return [{ kind: 'status', was: was.status, is: is.status }];
  const [wasType, isType] = [mediaType(was.contentType), mediaType(is.contentType)];
  if (wasType !== '' && isType !== '' && wasType !== isType)
    return [{ kind: 'content_type', was: wasType, is: isType }];
  if (!was.json || !is.json) return [];
  return shapeChanges(shapeOf(was.json.value), shapeOf(is.json.value)).slice(0, CHANGES_MAX);
}

const mediaType = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase();

function shapeChanges(was: Shape, is: Shape): DriftChange[] {
  const changes: DriftChange[] = [];
  for (const [path, type] of was) {
    const now = is.get(path);
    if (now === undefined) {
      if (!isBelowEmpty(path, is)) changes.push({ kind: 'missing', path, type });
    } else if (now !== type && type !== 'null' && now !== 'null')
      changes.push({ kind: 'type', path, was: type, is: now });
  }
  for (const [path, type] of is)
    if (!was.has(path) && !isBelowEmpty(path, was)) changes.push({ kind: 'added', path, type });
  return changes;
}

/** Whether nothing can be said of a place: the list above it is empty, or the object above it is null or missing itself. */
function isBelowEmpty(path: string, shape: Shape): boolean {
  const parent = path.slice(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('[]')));
  if (path.endsWith('[]')) return true;
  return shape.get(parent) !== 'object';
}

function shapeOf(value: unknown): Shape {
  const shape = new Map<string, string>();
  const visit = (part: unknown, path: string, level: number): void => {
    const type = typeOf(part);
    const before = shape.get(path);
    if (before === undefined || before === 'null') shape.set(path, type);
    if (shape.size > PLACES_MAX || level > LEVELS_MAX) return;
    if (Array.isArray(part)) for (const item of part) visit(item, `${path}[]`, level + 1);
    else if (typeof part === 'object' && part !== null)
      for (const [name, member] of Object.entries(part)) visit(member, `${path}.${name}`, level + 1);
  };
  visit(value, '$', 0);
  return shape;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Whether the address of a step is all that it asks of a request, and the request only reads. */
export const isAskable = ({ method, path, query = {}, headers, body, checks, requires }: StepRequest): boolean =>
  method === 'GET' &&
  compilePath(path).literal !== undefined &&
  Object.values(query).every((value) => typeof value !== 'object' || Array.isArray(value)) &&
  [headers, body, checks, requires].every((condition) => condition === undefined);
