import { usage } from './exit.ts';

interface Manifest {
  Package: { types: { name: string; members: string[] }[]; version: string };
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescaped = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, inner = '']) => inner);

/** A `package.xml` of the platform as the JSON that its own tools write. */
export function packageManifest(xml: string): Manifest {
  const text = xml.replaceAll(/<!--[\s\S]*?-->/g, '');
  const [version = ''] = elements(text, 'version');
  const types = elements(text, 'types').map((type) => ({
    name: unescaped(elements(type, 'name')[0]?.trim() ?? ''),
    members: elements(type, 'members').map((member) => unescaped(member.trim())),
  }));
  if (!/<Package[\s>]/.test(text) || types.some(({ name }) => name === '')) throw usage('The file is no package.xml');
  return { Package: { types, version: version.trim() } };
}
