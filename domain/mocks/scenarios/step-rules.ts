/** Steps of a scenario, and the highest number of one. */
export const STEPS_MAX = 2_000;
export const SEQ_MAX = 1_000_000;
export const SCENARIOS_MAX = 200;
/** Most characters of the name of a scenario or a workspace. */
export const NAME_MAX = 100;
/** A body of a response, as it is sent. */
export const BODY_MAX_BYTES = 5 * 1024 * 1024;
/** All bodies of a scenario: they are loaded and exported together. */
export const BODIES_MAX_BYTES = 64 * 1024 * 1024;
/** What a step expects of a request, and a response without its body, each as JSON. */
export const STEP_MAX_BYTES = 64 * 1024;
export const DELAY_MAX_MS = 300_000;

export const MOCK_MODES = ['strict', 'perEndpoint', 'any'] as const;
/** The order in which steps answer; see `replay.ts`. */
export type MockMode = (typeof MOCK_MODES)[number];

export const FAULT_KINDS = ['reset', 'empty', 'truncated', 'malformed', 'hang', 'rate_limit'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  kind: FaultKind;
  /** From 0 to 1. Default: always. */
  probability?: number | undefined;
}

/** Where the values of a check are from: `url` and `path` as they were sent. */
export const CHECKED_PARTS = ['body', 'url', 'path', 'query', 'headers', 'cookies'] as const;

/** A condition of a request beside those of the step: one of the values passes the test, or there is none. */
export interface RequestCheck {
  of: (typeof CHECKED_PARTS)[number];
  /** Name of the parameter, of the header in lower case, or of the cookie. */
  name?: string | undefined;
  /** A condition on the value, as `compile-check.ts` reads it. Absent: any value passes. */
  is?: unknown;
  isAbsent?: boolean | undefined;
}

/** Which requests a step answers. What is absent matches anything. */
export type StepRequest = {
  /** In upper case; `*` is any. */
  method: string;
  /** `/accounts/{id}`: literal, a segment by name, `*` within a segment, `**` across segments. */
  path: string;
  /** Values by name: a scalar, a list, or operators of webhook filters (`{gt: 3}`). */
  query?: Record<string, unknown> | undefined;
  /** Values by name in lower case: a scalar, a list, or operators, as in `query`. */
  headers?: Record<string, unknown> | undefined;
  /** JSON and forms as a subset, with operators as values; any other text as it is. */
  body?: unknown;
  /** What may have no more than is named. */
  exact?: ('query' | 'body')[] | undefined;
  /** Further conditions, all of which hold; see `compile-check.ts`. */
  checks?: RequestCheck[] | undefined;
  /** Variables of the run: a value, or operators. */
  requires?: Record<string, unknown> | undefined;
  /** Variables that are taken from the request: `{orderId: 'body.id'}`. */
  captures?: Record<string, string> | undefined;
};

/** JSON Schema, draft 2020-12; `nullable` of OpenAPI 3.0 is understood. */
export type JsonSchema = boolean | Record<string, unknown>;

/** What requests must be like to get a response; others are told what is wrong with them. All of it as JSON: 12 KB. */
export interface RequestSchemas {
  /** What the segments of the path must be like, as an object by name. Texts are read as the types that are wanted. */
  path?: JsonSchema | undefined;
  /** Schema of the parameters of the query. */
  query?: JsonSchema | undefined;
  /** Schema of the headers, with names in lower case. */
  headers?: JsonSchema | undefined;
  /** What the JSON of the body, or the fields of a form, must be like. */
  body?: JsonSchema | undefined;
  requiresBody?: boolean | undefined;
  /** Media types of bodies, without parameters; `*` as in HTTP. */
  contentTypes?: string[] | undefined;
  /** What `{$ref: '#/$defs/name'}` of the schemas refers to. */
  definitions?: Record<string, JsonSchema> | undefined;
  /** The status of the answer to other requests. Default: 400. */
  status?: 400 | 422 | undefined;
}
export const SCHEMAS_MAX_BYTES = 12 * 1024;
/** The most of a body into which members of the request are put. */
export const ECHO_MAX_BYTES = 256 * 1024;

export type StepResponse = {
  status: number;
  /** Several values of one name are a list. */
  headers?: Record<string, string | string[]> | undefined;
  /** A string is sent verbatim, anything else as JSON. */
  body?: unknown;
  /** Instead of `body`. */
  bodyBase64?: string | undefined;
  delayMs?: number | { min: number; max: number } | undefined;
  /** Bytes a second. */
  throttle?: number | undefined;
  fault?: Fault | undefined;
  /** Variables of the run that are set after the answer was chosen. */
  sets?: Record<string, unknown> | undefined;
  /** Body, headers and variables are templates. */
  template?: boolean | undefined;
  /** Members of a JSON body that are the request's own, where it has them in the same type: `{id: 'path.id'}`. */
  echo?: Record<string, string> | undefined;
  validates?: RequestSchemas | undefined;
};

/** One exchange of a scenario. */
export interface Step {
  /** From 1; the order of the steps. */
  seq: number;
  request: StepRequest;
  response: StepResponse;
  /** How often it answers. Null: always, in mode `strict` once. */
  times: number | null;
}

/** What is done with requests that no step answers. */
export type Unmatched =
  | 'not_found'
  | 'pass_through'
  | { status: number; headers?: Record<string, string | string[]> | undefined; body?: unknown };

/** What a step without a description of its requests answers: all. */
export const ANY_REQUEST: StepRequest = { method: '*', path: '/**' };
