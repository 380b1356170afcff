import { z } from 'zod';
import { unstorable } from '../../kernel/json/storable-json-rules.ts';
import { PARSING } from '../../kernel/shared/input-errors.ts';
import { readSelectorPart } from './element-selector-rules.ts';
import { type BrowserRecording, originOf, STEP_MAX_MS, STEP_TYPES, STEPS_MAX } from './browser-recording-rules.ts';
import { isPlayedKey } from './recorded-key-rules.ts';

const TEXT_MAX = 10_000;
/** Each is looked for by every role that has a name. */
const NAMED_PARTS_MAX = 3;
const Address = z
  .string()
  .max(4_000)
  .refine((url) => url === 'about:blank' || originOf(url) !== undefined, {
    error: 'must be an http or https address, or about:blank',
  });
const Pixels = z.number().min(-100_000).max(100_000);
const Side = z.int().min(1).max(4_096);
const Key = z.string().refine(isPlayedKey, { error: 'is no key that is played' });

const Selector = z
  .union([z.string().max(2_000), z.array(z.string().max(2_000)).min(1).max(10)])
  .superRefine((selector, { addIssue }) => {
    const read = [selector].flat().map((part) => ({ part, as: readSelectorPart(part) }));
    for (const { part, as } of read)
      if (typeof as === 'string') addIssue(`The selector ${JSON.stringify(part.slice(0, 100))} ${as}`);
    const named = read.filter(({ as }) => typeof as !== 'string' && as.kind === 'aria' && as.role === undefined);
    if (named.length > NAMED_PARTS_MAX)
      addIssue(`A selector has ${NAMED_PARTS_MAX} parts of aria/ without a role at most`);
  });
const Selectors = z.array(Selector).min(1).max(20);

const ANY = {
  timeout: z.int().min(1).max(STEP_MAX_MS).optional(),
  assertedEvents: z
    .array(
      z.strictObject({
        type: z.literal('navigation'),
        url: z.string().max(4_000).optional(),
        title: z.string().max(1_000).optional(),
      }),
    )
    .max(10)
    .optional(),
  target: z.union([z.literal('main'), Address]).optional(),
};
const IN_FRAME = { ...ANY, frame: z.array(z.int().min(0).max(99)).max(10).optional() };
const ON_ELEMENT = { ...IN_FRAME, selectors: Selectors };
const CLICKED = {
  ...ON_ELEMENT,
  deviceType: z.literal('mouse', { error: 'must be mouse: others are not played' }).optional(),
  button: z.enum(['primary', 'auxiliary', 'secondary']).optional(),
  offsetX: Pixels,
  offsetY: Pixels,
  duration: z.int().min(0).max(10_000).optional(),
};

const NO_PHONE = z.literal(false, { error: 'must be false: phones and tablets are not played' });

const step = <Type extends (typeof STEP_TYPES)[number], Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape });

const Step = z.discriminatedUnion(
  'type',
  [
    step('setViewport', {
      ...ANY,
      width: Side,
      height: Side,
      deviceScaleFactor: z.literal(1, { error: 'must be 1: other scales are not played' }),
      isMobile: NO_PHONE,
      hasTouch: NO_PHONE,
      isLandscape: NO_PHONE,
    }),
    step('navigate', { ...ANY, url: Address }),
    step('click', CLICKED),
    step('doubleClick', CLICKED),
    step('hover', ON_ELEMENT),
    step('change', { ...ON_ELEMENT, value: z.string().max(TEXT_MAX) }),
    step('keyDown', { ...ANY, key: Key }),
    step('keyUp', { ...ANY, key: Key }),
    step('scroll', { ...IN_FRAME, selectors: Selectors.optional(), x: Pixels.optional(), y: Pixels.optional() }),
    step('close', ANY),
    step('waitForElement', {
      ...ON_ELEMENT,
      operator: z.enum(['>=', '==', '<=']).optional(),
      count: z.int().min(0).max(10_000).optional(),
      visible: z.boolean().optional(),
      properties: z.record(z.string(), z.json()).optional(),
      attributes: z.record(z.string(), z.string().max(TEXT_MAX)).optional(),
    }),
    step('waitForExpression', { ...IN_FRAME, expression: z.string().min(1).max(TEXT_MAX) }),
  ],
  { error: ({ input }) => `is a step that is not played (${typeOf(input)}): ${STEP_TYPES.join(', ')}` },
);

const typeOf = (input: unknown): string => {
  const type = typeof input === 'object' && input !== null && 'type' in input ? input.type : undefined;
  return typeof type === 'string' ? type.slice(0, 50) : 'without a type';
};

const Recording = z.strictObject({
  title: z.string().max(200),
  timeout: z.int().min(1).max(STEP_MAX_MS).optional(),
  selectorAttribute: z.string().max(200).optional(),
  steps: z.array(Step).min(1).max(STEPS_MAX),
});

/** What keeps a recording from being played. */
export interface RecordingProblem {
  path: PropertyKey[];
  message: string;
}

/** Levels of a recording; the Recorder makes six. */
const DEPTH_MAX = 20;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)));

/** Reads a recording; of one that cannot be played as a whole, what of it cannot. */
export function readRecording(value: unknown): { recording: BrowserRecording } | { problems: RecordingProblem[] } {
  if (isDeeper(value, DEPTH_MAX)) return { problems: [{ path: [], message: `has more than ${DEPTH_MAX} levels` }] };
  const read = Recording.safeParse(value, PARSING);
  if (read.success) return { recording: read.data };
  return {
    problems: read.error.issues.flatMap((issue) => {
      const { path, message } = issue;
      return issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ path: [...path, key], message: 'is not played: unknown member' }))
        : [{ path, message }];
    }),
  };
}

/** Reads the file of a recording; answers in words why it cannot be played. */
export function readRecordingFile(text: string): BrowserRecording | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  // Deeper ones are refused below.
  const problem = isDeeper(value, DEPTH_MAX) ? undefined : unstorable(value)?.problem;
  if (problem !== undefined) return `a text of it ${problem}`;
  const read = readRecording(value);
  if ('recording' in read) return read.recording;
  const [first] = read.problems;
  return first
    ? `${first.path.map(String).join('/')} ${first.message}`.trim().slice(0, 500).toWellFormed()
    : 'it is no recording';
}
