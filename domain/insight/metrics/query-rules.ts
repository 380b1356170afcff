import { storedLabelName } from './series-rules.ts';
import { checkBounds, OWN_LABEL } from './expression-bound-rules.ts';
import { ExpressionError, tokensOf } from './expression-token-rules.ts';
import { withStoredNames } from './query-name-rules.ts';
import { type StoreParameters, TENANT_LABEL } from './metrics-store.port.ts';

/** Types of Prometheus' HTTP API (`web/api/v1/api.go`). */
export type QueryErrorType = 'bad_data' | 'execution' | 'timeout' | 'unavailable' | 'not_found';

/** Why a query cannot be asked or answered, in Prometheus' words. */
export interface QueryTrouble {
  errorType: QueryErrorType;
  error: string;
}

/** What a caller gave, by name; what is repeated is a list. */
export type QueryInput = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A query as the store is asked: our own parameters alone. */
export interface CheckedQuery {
  parameters: StoreParameters;
  timeoutMs: number;
}

export const QUERY_TIMEOUT_MAX_MS = 30_000;
/** Most characters of a query, as the store limits it. */
const QUERY_MAX = 16 * 1024;
const POINTS_MAX = 11_000;
const MATCHES_MAX = 100;

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};
/** What Prometheus can hold: 2^63 nanoseconds. */
const DURATION_MAX_MS = 2 ** 63 / 1e6;
/** Greatest units first, each at most once, as Prometheus has it. */
const DURATION = /^(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m(?!s))?(?:\d+s)?(?:\d+ms)?$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

class Refusal extends Error {}
const invalid = (name: string, why: string) => new Refusal(`invalid parameter "${name}": ${why}`);

/** A caller may repeat a parameter: the first counts, as in Prometheus. */
const one = (input: QueryInput, name: string): string => {
  const given = input[name];
  return (typeof given === 'string' ? given : given?.[0]) ?? '';
};
const all = (input: QueryInput, name: string): readonly string[] => {
  const given = input[name];
  return typeof given === 'string' ? [given] : (given ?? []);
};

/** Seconds of a moment that a caller gave: RFC 3339 or Unix seconds. */
function momentOf(text: string): number | undefined {
  const seconds = NUMBER.test(text) ? Number(text) : RFC_3339.test(text) ? Date.parse(text) / 1_000 : NaN;
  if (!Number.isFinite(seconds) || Math.abs(seconds) >= 1e11) return undefined;
  // As exact as the store is; without an exponent, which the store may not know.
  return Math.round(seconds * 1_000) / 1_000;
}

/** Milliseconds of a duration: `5m`, `1h30m`, or seconds. */
function durationOf(text: string): number | undefined {
  let total = 0;
  if (NUMBER.test(text)) total = Number(text) * 1_000;
  else if (text === '' || !DURATION.test(text)) return undefined;
  else
    for (const [, count, unit = ''] of text.matchAll(/(\d+)(ms|[smhdwy])/g))
      total += Number(count) * (UNITS_MS[unit] ?? 0);
  return Math.abs(total) < DURATION_MAX_MS ? total : undefined;
}

function timeOf(input: QueryInput, name: string): number {
  const text = one(input, name);
  const moment = momentOf(text);
  if (moment === undefined) throw invalid(name, `cannot parse ${JSON.stringify(text)} to a valid timestamp`);
  return moment;
}

function timeoutOf(input: QueryInput): number {
  const text = one(input, 'timeout');
  if (text === '') return QUERY_TIMEOUT_MAX_MS;
  const duration = durationOf(text);
  if (duration === undefined) throw invalid('timeout', `cannot parse ${JSON.stringify(text)} to a valid duration`);
  return Math.max(1, Math.min(QUERY_TIMEOUT_MAX_MS, Math.round(duration)));
}

/** An expression as the store is asked, when it is one that the store may be asked. */
function askedExpression(name: string, text: string): string {
  if (text.trim() === '') throw invalid(name, '1:1: parse error: no expression found in input');
  if (Buffer.byteLength(text) > QUERY_MAX) throw invalid(name, `must not be longer than ${QUERY_MAX} bytes`);
  try {
    const tokens = withStoredNames(tokensOf(text));
    checkBounds(tokens);
    return tokens.map((token) => token.text).join('');
  } catch (error) {
    throw error instanceof ExpressionError ? invalid(name, error.message) : error;
  }
}

/** `match[]`: series selectors. */
function selectorsOf(input: QueryInput): StoreParameters {
  const given = all(input, 'match[]');
  if (given.length > MATCHES_MAX) throw invalid('match[]', `must not be given more than ${MATCHES_MAX} times`);
  return given.map((text) => {
    const expression = askedExpression('match[]', text);
    if (isEmptySelector(text)) throw invalid('match[]', 'match[] must contain at least one non-empty matcher');
    return ['match[]', expression] as const;
  });
}

/** It selects everything: no matcher, or only ones that an absent label matches, too. */
function isEmptySelector(text: string): boolean {
  const matchers = /^\s*\{([^{}]*)\}\s*$/.exec(text)?.[1];
  // A comma within quotes parts what no pattern for an empty matcher fits.
  return matchers?.split(',').every((matcher) => EMPTY_MATCHER.test(matcher.trim())) ?? false;
}
const EMPTY_MATCHER = /^(?:[A-Za-z_]\w*\s*(?:=\s*""|=~\s*"(?:\.\*)?"))?$/;

function spanOf(input: QueryInput): StoreParameters {
  const start = one(input, 'start') === '' ? undefined : timeOf(input, 'start');
  const end = one(input, 'end') === '' ? undefined : timeOf(input, 'end');
  if (start !== undefined && end !== undefined && end < start)
    throw invalid('end', 'end timestamp must not be before start time');
  // Without a start the store would look at the last days alone.
  return [['start', String(start ?? 1)], ...(end === undefined ? [] : [['end', String(end)] as const])];
}

const checked =
  (check: (input: QueryInput, now: number) => StoreParameters) =>
  (input: QueryInput, now = 0): CheckedQuery | QueryTrouble => {
    try {
      return { parameters: check(input, now), timeoutMs: timeoutOf(input) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { errorType: 'bad_data', error: error.message };
    }
  };

/** Whether something is the reason why a query is refused. */
export const isTrouble = (value: object): value is QueryTrouble => 'errorType' in value;

/** Without `time` it is about `now`: the store itself would take the whole second before. */
export const checkInstantQuery = checked((input, now) => {
  const time = one(input, 'time');
  const moment = time === '' ? undefined : momentOf(time);
  if (time !== '' && moment === undefined) {
    const why = `cannot parse ${JSON.stringify(time)} to a valid timestamp`;
    throw invalid('time', `Invalid time value for 'time': ${why}`);
  }
  return [
    ['query', askedExpression('query', one(input, 'query'))],
    ['time', String(moment ?? now / 1_000)],
  ];
});

/** Checks what asks for values over a time. */
export const checkRangeQuery = checked((input) => {
  const [start, end] = [timeOf(input, 'start'), timeOf(input, 'end')];
  if (end < start) throw invalid('end', 'end timestamp must not be before start time');
  const text = one(input, 'step');
  const stepMs = durationOf(text);
  if (stepMs === undefined) throw invalid('step', `cannot parse ${JSON.stringify(text)} to a valid duration`);
  // The store counts in milliseconds.
  if (stepMs < 1)
    throw invalid('step', 'zero or negative query resolution step widths are not accepted. Try a positive integer');
  if (Math.floor(((end - start) * 1_000) / stepMs) > POINTS_MAX)
    throw new Refusal(
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
    );
  return [
    ['query', askedExpression('query', one(input, 'query'))],
    ['start', String(start)],
    ['end', String(end)],
    ['step', `${stepMs}ms`],
  ];
});

/** Checks what asks for names or values of labels. */
export const checkLabels = checked((input) => [...selectorsOf(input), ...spanOf(input)]);

/** Checks what asks for series. */
export const checkSeries = checked((input) => {
  const selectors = selectorsOf(input);
  if (selectors.length === 0) throw new Refusal('no match[] parameter provided');
  return [...selectors, ...spanOf(input)];
});

/** A label's name as the store knows it; a trouble for one that can be none. */
export function checkLabelName(name: string): { name: string } | QueryTrouble {
  if (!/^[A-Za-z_][\w.]*$/.test(name) || name.length > 256)
    return { errorType: 'bad_data', error: `invalid label name: ${JSON.stringify(name)}` };
  const stored = storedLabelName(name);
  return stored === TENANT_LABEL ? { errorType: 'bad_data', error: OWN_LABEL } : { name: stored };
}
