import { FileSet, type NamedComponent } from './deployed-components.ts';
import { filesOfZip } from './zip-reader.ts';

/** What is deployed and deleted. */
export interface Archive {
  files: FileSet;
  components: NamedComponent[];
  deletions: NamedComponent[];
}
export const EMPTY: Archive = { files: new FileSet(new Map()), components: [], deletions: [] };

/** Throws for what is no archive. */
export function archiveOf(zip: Buffer): Archive {
  const all = filesOfZip(zip);
  const path = [...all.keys()].find((each) => each === 'package.xml' || /^[^/]+\/package\.xml$/.test(each));
  if (path === undefined) throw new Error('no package.xml');
  const root = path.slice(0, -'package.xml'.length);
  const files = new Map([...all].map(([each, content]) => [each.slice(root.length), content]));
  const components = manifestOf(files.get('package.xml'));
  const deletions = [...files.keys()]
    .filter((each) => /^destructiveChanges(Pre|Post)?\.xml$/.test(each))
    .flatMap((each) => manifestOf(files.get(each)));
  return { files: new FileSet(files), components, deletions };
}

function manifestOf(xml: Buffer | undefined): NamedComponent[] {
  const found: NamedComponent[] = [];
  for (const [, types = ''] of String(xml ?? '').matchAll(/<types>([\s\S]*?)<\/types>/g)) {
    const type = /<name>([^<]*)<\/name>/.exec(types)?.[1]?.trim() ?? '';
    for (const [, member = ''] of types.matchAll(/<members>([^<]*)<\/members>/g))
      found.push({ type, fullName: unescaped(member.trim()) });
  }
  return found;
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

/** The parts of a form, by their names. */
export function multipart(body: Buffer, contentType: string): { options: unknown; file: Buffer | undefined } {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1] ?? '';
  const parts = new Map<string, Buffer>();
  let at = body.indexOf(`--${boundary}`);
  while (at >= 0) {
    const next = body.indexOf(`\r\n--${boundary}`, at);
    if (next < 0) break;
    const head = body.indexOf('\r\n\r\n', at);
    const name = /name="([^"]+)"/.exec(body.toString('latin1', at, head))?.[1];
    if (name !== undefined) parts.set(name, body.subarray(head + 4, next));
    at = next + 2;
  }
  const options = parts.get('entity_content');
  return { options: options && (JSON.parse(options.toString('utf8')) as unknown), file: parts.get('file') };
}
