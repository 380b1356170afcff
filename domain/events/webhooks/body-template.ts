import { Liquid, type Template } from 'liquidjs';
import { lookUp, MISSING } from '../../kernel/json/json-path-rules.ts';
import { usePatternWork } from './pattern-work.ts';

/** A template that cannot be used, or a path that an event does not have; the message is for the webhook's owner. */
export class TemplateError extends Error {}

export type RenderBody = (envelope: unknown) => string;

export const TEMPLATE_MAX = 65_536;
/** Each takes the parser as long as a page of text. */
const PLACES_MAX = 1_000;
/** A short template may name a large payload many times. */
const RENDERED_MAX = 4 * 1024 * 1024;

/** Units of pattern work of a look-up, and of a character that is written. */
const [PLACE_UNITS, WRITTEN_UNITS] = [10, 0.5];

/** Liquid without tags and with one filter, so that templates can only look up paths. */
const engine = new Liquid({ strictFilters: true, strictVariables: true, ownPropertyOnly: true });
for (const tag of Object.keys(engine.tags)) delete engine.tags[tag];
for (const filter of Object.keys(engine.filters)) if (filter !== 'json') delete engine.filters[filter];

/** A literal part of a template, or a look-up of a value. */
export type TemplatePiece = { text: string } | { segments: string[]; asJson: boolean };

/** The parts of a template. Throws `TemplateError`. */
export const templatePieces = (template: string): TemplatePiece[] => parse(template).map(pieceOf);

/**
 * Compiles a body template: `{{ data.releaseName }}`, `{{ data.packages | json }}`. Strings are inserted as they are,
 * null as nothing, all other values as JSON. Throws `TemplateError` for anything but paths and the filter `json`;
 * rendering throws it for a path that the event does not have. Uses the work of patterns.
 */
export function compileTemplate(template: string): RenderBody {
  const pieces = templatePieces(template);
  return (envelope) => {
    let body = '';
    for (const piece of pieces) {
      const text = 'text' in piece ? piece.text : insertedText(valueAt(envelope, piece.segments), piece.asJson);
      usePatternWork(PLACE_UNITS + WRITTEN_UNITS * text.length);
      body += text;
      if (body.length > RENDERED_MAX)
        throw new TemplateError(`the body would be longer than ${RENDERED_MAX} characters`);
    }
    return body;
  };
}

/** The paths that a template looks up. Throws `TemplateError`. */
export const templatePaths = (template: string): string[][] =>
  templatePieces(template).flatMap((piece) => ('segments' in piece ? [piece.segments] : []));

function parse(template: string): Template[] {
  if (template.length > TEMPLATE_MAX) throw new TemplateError(`longer than ${TEMPLATE_MAX} characters`);
  if (template.split('{{').length > PLACES_MAX + 1) throw new TemplateError(`more than ${PLACES_MAX} places`);
  try {
    return engine.parse(template);
  } catch (error) {
    throw new TemplateError((error as Error).message.split('\n')[0]);
  }
}

/** A parsed look-up; liquidjs exports no type for it. */
interface ParsedOutput {
  str?: string;
  value?: {
    filters: { name: string; args: unknown[] }[];
    initial: { postfix: { props?: { content?: unknown; props?: unknown }[] }[] };
  };
  token: { getText(): string };
}

function pieceOf(template: Template): TemplatePiece {
  const { str, value, token } = template as unknown as ParsedOutput;
  if (value === undefined) return { text: str ?? '' };
  const [access, ...operators] = value.initial.postfix;
  const segments = (access?.props ?? []).map(({ content }) => content);
  const isPath =
    operators.length === 0 &&
    segments.length > 0 &&
    segments.every((one) => typeof one === 'string' || typeof one === 'number');
  const isPlain = value.filters.every(({ args }) => args.length === 0);
  if (!isPath || !isPlain) throw new TemplateError(`only paths and the filter json can be used: ${token.getText()}`);
  return { segments: segments.map(String), asJson: value.filters.length > 0 };
}

/** The value at a path of an event. Throws `TemplateError` where it has none. */
export function valueAt(envelope: unknown, segments: readonly string[]): unknown {
  const value = lookUp(envelope, segments);
  if (value === MISSING) throw new TemplateError(`unknown path ${segments.join('.')}`);
  return value;
}

/** A value as it is inserted into a text. */
export function insertedText(value: unknown, asJson: boolean): string {
  if (asJson) return JSON.stringify(value);
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
