import { xmlText } from '../../orgs/crm/xml-rules.ts';

/** What a definition file of scratch orgs asks for. */
export interface ScratchDefinition {
  /** By the platform's names of fields of `ScratchOrgInfo`. */
  fields: Record<string, string | number | boolean>;
  /** By the names in the file: `lightningExperienceSettings`. */
  settings: Record<string, Record<string, unknown>>;
}

/** Members that the pool itself decides, or that are for editors; in small letters, as the platform takes any case. */
const IGNORED: ReadonlySet<string> = new Set(['$schema', 'description', 'durationdays', 'duration']);
/** By names in small letters, as the platform takes any case. */
const REFUSED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    username: 'username cannot be that of several orgs: leave it out',
    objectSettings: 'objectSettings are not deployed by the service: put the objects into the source of the repository',
    connectedAppConsumerKey: 'connectedAppConsumerKey is set by the service: leave it out',
    connectedAppCallbackUrl: 'connectedAppCallbackUrl is set by the service: leave it out',
  }).map(([name, why]) => [name.toLowerCase(), why]),
);
const NAME = /^[A-Za-z]\w{0,79}$/;
/** So many levels the settings of one name may have. */
const LEVELS_MAX = 10;
const MEMBERS_MAX = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Reads a definition file; what is wrong with it is answered in words. */
export function readScratchDefinition(text: string): ScratchDefinition | string {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (!isObject(given)) return 'it is no JSON object';
  if (Object.keys(given).length > MEMBERS_MAX) return `it has more than ${MEMBERS_MAX} members`;
  const fields: ScratchDefinition['fields'] = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'settings' || IGNORED.has(name.toLowerCase()) || value === null) continue;
    const refused = REFUSED.get(name.toLowerCase());
    if (refused !== undefined) return refused;
    if (!NAME.test(name)) return `its member ${name.slice(0, 80)} has no valid name`;
    const field = fieldOf(name, value);
    if (field === undefined) return `its member ${name} is neither text, number nor boolean`;
    fields[upperFirst(name)] = field;
  }
  const { settings = {} } = given;
  if (!isObject(settings)) return 'its settings are no object';
  for (const [name, value] of Object.entries(settings)) {
    if (!NAME.test(name) || !isObject(value)) return `its settings have no valid ${name}`;
    if (isDeeper(value, LEVELS_MAX)) return `its ${name} are nested deeper than ${LEVELS_MAX} levels`;
  }
  return { fields, settings: settings as ScratchDefinition['settings'] };
}

/** Whether something has more levels than that; those of lists count, too. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function fieldOf(name: string, value: unknown): string | number | boolean | undefined {
  if (name === 'features') {
    const all = Array.isArray(value) ? value.map(String) : String(value).split(/[;,]/);
    return all.map((each) => each.trim()).join(';');
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

const NAMESPACE = 'http://soap.sforce.com/2006/04/metadata';
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** The files of a deployment that sets the settings of an org, by their paths. @param apiVersion `66.0`. */
export function settingsFiles(settings: ScratchDefinition['settings'], apiVersion: string): Map<string, string> {
  const files = new Map<string, string>();
  const members: string[] = [];
  for (const [name, values] of Object.entries(settings)) {
    const type = upperFirst(name);
    const member = type.replace(/Settings$/, '');
    members.push(`<members>${xmlText(member)}</members>`);
    files.set(`settings/${member}.settings`, `${HEAD}<${type} xmlns="${NAMESPACE}">${elements(values)}</${type}>\n`);
  }
  files.set(
    'package.xml',
    `${HEAD}<Package xmlns="${NAMESPACE}"><types>${members.join('')}<name>Settings</name></types><version>${xmlText(apiVersion)}</version></Package>\n`,
  );
  return files;
}

const elements = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .filter(([name]) => NAME.test(name))
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((each) => element(name, each)))
    .join('');

const element = (name: string, value: unknown): string =>
  `<${name}>${isObject(value) ? elements(value) : xmlText(String(value))}</${name}>`;
