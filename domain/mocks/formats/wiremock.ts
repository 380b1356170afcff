import { z } from 'zod';
import { isObject } from '../../kernel/json/json-rules.ts';
import { collectSteps, FormatError, type Imported, type ImportedSteps, readJson } from './imported.ts';
import { readWireMockArchive } from './wiremock-archive.ts';
import { NotTakenError } from './wiremock-criteria.ts';
import { requestOf } from './wiremock-requests.ts';
import { type BodyFiles, responseOf } from './wiremock-responses.ts';

type Path = (string | number)[];

const Mapping = z.looseObject({
  request: z.looseObject({}).default({}),
  response: z.looseObject({}).default({}),
  priority: z.number().optional(),
  scenarioName: z.string().optional(),
  requiredScenarioState: z.string().optional(),
  newScenarioState: z.string().optional(),
});
type WireMockMapping = z.output<typeof Mapping>;

const PRIORITY = 5;
/** The state that each scenario begins with. */
const STARTED = 'Started';
const MAPPINGS_MAX = 20_000;

interface Reading {
  collected: ImportedSteps;
  /** All states that mappings of a scenario name. */
  states: Map<string, Set<string>>;
  files: BodyFiles;
}

/**
 * Reads mappings of WireMock: one, a list, or `{mappings: […]}`. A mapping with a criterion that has no counterpart is not
 * taken at all, since it would answer requests that it must not. Throws `FormatError`.
 */
export function importWireMock(content: string): Imported {
  const collected = collectSteps();
  const given = mappingsIn(readJson(content, 'The document'), []);
  return importedMappings(collected, given, undefined);
}

/**
 * Reads a folder of WireMock (https://wiremock.org/docs/standalone/java-jar/#file-serving), packed as a zip. A file that is no
 * JSON is named, as is one that a mapping needs and that is not there. Throws `FormatError` and `ZipDefect`.
 */
export async function importWireMockArchive(bytes: Buffer): Promise<Imported> {
  const collected = collectSteps();
  const { mappings, files } = await readWireMockArchive(bytes);
  const given = mappings.flatMap(({ path, content }) => {
    try {
      return mappingsIn(readJson(content, 'The file'), [path]);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      collected.skip([path], error.message);
      return [];
    }
  });
  return importedMappings(collected, given, files);
}

interface Given {
  mapping: unknown;
  /** Where it was, as segments of a JSON pointer. */
  path: Path;
}

function mappingsIn(document: unknown, path: Path): Given[] {
  if (Array.isArray(document)) return document.map((mapping: unknown, index) => ({ mapping, path: [...path, index] }));
  if (isObject(document) && Array.isArray(document.mappings))
    return mappingsIn(document.mappings, [...path, 'mappings']);
  return [{ mapping: document, path }];
}

function importedMappings(collected: ImportedSteps, given: readonly Given[], files: BodyFiles): Imported {
  if (given.length > MAPPINGS_MAX) throw new FormatError(`The mappings are more than ${MAPPINGS_MAX}`);
  const mappings = given.flatMap(({ mapping, path }, index) => {
    const parsed = Mapping.safeParse(mapping);
    if (parsed.success) return [{ mapping: parsed.data, path, index }];
    const [issue] = parsed.error.issues;
    collected.skip(
      [...path, ...(issue?.path ?? []).map(String)],
      `is no mapping: ${issue?.message ?? 'it is malformed'}`,
    );
    return [];
  });
  const reading = { collected, states: statesOf(mappings.map(({ mapping }) => mapping)), files };
  // WireMock asks the newest of several mappings of one priority first.
  const inOrder = mappings.toSorted(
    (a, b) => (a.mapping.priority ?? PRIORITY) - (b.mapping.priority ?? PRIORITY) || b.index - a.index,
  );
  for (const { mapping, path } of inOrder) addMapping(reading, mapping, path);
  if (new Set(mappings.map(({ mapping }) => mapping.priority ?? PRIORITY)).size > 1)
    collected.skip(
      [],
      'priorities are the order of the steps: of several that match, one with a more specific path still goes first',
    );
  return collected.imported({ mode: 'any' });
}

function addMapping({ collected, states, files }: Reading, mapping: WireMockMapping, path: Path): void {
  try {
    const request = requestOf(mapping.request, (at, reason) => collected.skip([...path, 'request', ...at], reason));
    const requires = requiredState(mapping, states);
    const response = responseOf(mapping.response, request.path ?? '/**', files, (at, reason) =>
      collected.skip([...path, 'response', ...at], reason),
    );
    const { scenarioName, newScenarioState } = mapping;
    const sets = scenarioName !== undefined &&
      newScenarioState !== undefined && { [variableOf(scenarioName)]: newScenarioState };
    for (const name of ['postServeActions', 'serveEventListeners'])
      if (mapping[name] !== undefined) collected.skip([...path, name], 'nothing is called after an answer');
    collected.add(
      {
        request: { ...request, path: response.path, ...(requires && { requires }) },
        response: { ...response.response, ...(sets && { sets }) },
        times: null,
      },
      path,
    );
  } catch (error) {
    if (!(error instanceof NotTakenError)) throw error;
    collected.skip([...path, ...error.path], error.message);
  }
}

const variableOf = (scenarioName: string): string => scenarioName.replaceAll(/\W+/g, '_').slice(0, 100);

function statesOf(mappings: readonly WireMockMapping[]): Map<string, Set<string>> {
  const states = new Map<string, Set<string>>();
  for (const { scenarioName, requiredScenarioState, newScenarioState } of mappings) {
    if (scenarioName === undefined) continue;
    const known = states.get(scenarioName) ?? new Set();
    for (const state of [requiredScenarioState, newScenarioState]) if (state !== undefined) known.add(state);
    states.set(scenarioName, known);
  }
  return states;
}

/** A variable that was never set is in the first state: it is none of the others. */
function requiredState(
  { scenarioName, requiredScenarioState: state }: WireMockMapping,
  states: Map<string, Set<string>>,
): Record<string, unknown> | undefined {
  if (scenarioName === undefined || state === undefined) return undefined;
  if (state !== STARTED) return { [variableOf(scenarioName)]: state };
  const others = [...(states.get(scenarioName) ?? [])].filter((one) => one !== STARTED);
  return others.length === 0 ? undefined : { [variableOf(scenarioName)]: { nin: others } };
}
