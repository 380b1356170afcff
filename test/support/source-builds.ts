import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { fromBufferPromise } from 'yauzl';
import { createGitMirrors } from '../../activities/adapters/git/git-mirrors.ts';
import { createFolderObjectStore } from '../../activities/adapters/objects/folder-object-store.ts';
import {
  createSourceConverter,
  type SourceConverterOptions,
} from '../../activities/adapters/source/source-converter.ts';
import { buildFromRemote } from '../../activities/delivery/source/build-source.ts';
import type { SourceBuild, SourceOrder } from '../../domain/delivery/source/source-build.port.ts';
import { newId } from '../../domain/kernel/shared/ids.ts';
import { outboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';

/** Builds the source of a repository on disk with all that a worker uses for it, but without a database. */
export function sourceBuilds(repositoryPath: string, options: Partial<SourceConverterOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'quayside-source-'));
  const objects = createFolderObjectStore(join(folder, 'objects'));
  const places = join(folder, 'places');
  const deps = {
    git: {
      mirrors: createGitMirrors({
        folder: join(folder, 'mirrors'),
        allowLocal: true,
        addresses: outboundAddresses('127.0.0.0/8'),
        log: pino({ enabled: false }),
      }),
    },
    objects,
    source: { converter: createSourceConverter({ folder: places, ...options }) },
  };
  const always = { tenantId: newId(), tenantSlug: 'shop', projectId: newId(), deletions: true, apiVersion: '64.0' };
  const build = (
    order: Partial<SourceOrder> & Pick<SourceOrder, 'commitSha' | 'baseSha'>,
    signal = new AbortController().signal,
  ) => buildFromRemote(deps, { ...always, ...order }, { url: repositoryPath, credential: undefined }, signal);
  return {
    places,
    build,
    /** The build; throws when it was refused. */
    async built(...given: Parameters<typeof build>): Promise<SourceBuild> {
      const answer = await build(...given);
      if (!answer.isOk) throw new Error(answer.reason);
      return answer.value;
    },
    /** Files of a zip by their names. */
    async filesOf({ object }: Pick<SourceBuild, 'object'>): Promise<Map<string, Buffer>> {
      const stored = await objects.get(object ?? '');
      if (!stored) throw new Error(`There is no object ${object}`);
      const zip = await fromBufferPromise(await buffer(stored));
      const files = new Map<string, Buffer>();
      for await (const entry of zip.eachEntry())
        files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
      return files;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const META = 'xmlns="http://soap.sforce.com/2006/04/metadata"';
const xml = (type: string, content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${type} ${META}>${content}</${type}>\n`;

/** Files of a component of source format, as they are in a repository. */
export const sourceOf = {
  apexClass: (folder: string, name: string, code = ''): Record<string, string> => ({
    [`${folder}/classes/${name}.cls`]: `public class ${name} {${code}}`,
    [`${folder}/classes/${name}.cls-meta.xml`]: xml(
      'ApexClass',
      '<apiVersion>64.0</apiVersion><status>Active</status>',
    ),
  }),
  object: (folder: string, name: string, label: string): Record<string, string> => ({
    [`${folder}/objects/${name}/${name}.object-meta.xml`]: xml('CustomObject', `<label>${label}</label>`),
  }),
  field: (folder: string, object: string, name: string, length = 10): Record<string, string> => ({
    [`${folder}/objects/${object}/fields/${name}.field-meta.xml`]: xml(
      'CustomField',
      `<fullName>${name}</fullName><label>${name}</label><length>${length}</length><type>Text</type>`,
    ),
  }),
  labels: (folder: string, labels: Readonly<Record<string, string>>): Record<string, string> => ({
    [`${folder}/labels/CustomLabels.labels-meta.xml`]: xml(
      'CustomLabels',
      Object.entries(labels)
        .map(([name, value]) => `<labels><fullName>${name}</fullName><value>${value}</value></labels>`)
        .join(''),
    ),
  }),
  project: (directories: readonly object[], more: object = {}): Record<string, string> => ({
    'sfdx-project.json': JSON.stringify({ packageDirectories: directories, ...more }),
  }),
};

/** Members of a manifest, as `Type Name`. */
export function membersOf(manifest: Buffer | undefined): string[] {
  const members: string[] = [];
  for (const [, types = ''] of (manifest?.toString() ?? '').matchAll(/<types>(.*?)<\/types>/gs)) {
    const name = /<name>(.*?)<\/name>/.exec(types)?.[1];
    for (const [, member] of types.matchAll(/<members>(.*?)<\/members>/g)) members.push(`${name} ${member}`);
  }
  return members.toSorted();
}
