/** What a retrieved package lists, and the manifest by which it is deployed. */
interface ChangeSetManifest {
  components: number;
  xml: string;
}

/** A manifest of the platform lists at most 10,000 components. */
export const MANIFEST_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The manifest of a change set without the name that it has as a package: the target would make a package of that name.
 * Undefined: the text is no manifest.
 */
export function manifestOfChangeSet(text: string): ChangeSetManifest | undefined {
  const types = between(text, '<types>', '</types>');
  const [version] = between(text, '<version>', '</version>');
  if (version === undefined || !/^\d{2,3}\.\d$/.test(version.trim())) return undefined;
  const components = types.reduce((sum, each) => sum + between(each, '<members>', '</members>').length, 0);
  return {
    components,
    xml:
      '<?xml version="1.0" encoding="UTF-8"?>\n<Package xmlns="http://soap.sforce.com/2006/04/metadata">' +
      `${types.map((each) => `<types>${each}</types>`).join('')}<version>${version.trim()}</version></Package>\n`,
  };
}

function between(text: string, open: string, close: string): string[] {
  const found: string[] = [];
  for (let start = text.indexOf(open); start >= 0; ) {
    const end = text.indexOf(close, start);
    if (end < 0) break;
    found.push(text.slice(start + open.length, end));
    start = text.indexOf(open, end);
  }
  return found;
}
