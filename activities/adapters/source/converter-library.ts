import dgram from 'node:dgram';
import dns from 'node:dns';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import type * as Sdr from '@salesforce/source-deploy-retrieve';

// The permissions of Node know no network; where the system permits it, this process has none anyway.
const refuse = (): never => {
  throw new Error('Nothing is called from here');
};
net.Socket.prototype.connect = refuse;
net.Server.prototype.listen = refuse;
dgram.createSocket = refuse;
Object.assign(dns, { lookup: refuse, resolve: refuse });
Object.assign(dns.promises, { lookup: refuse, resolve: refuse });
syncBuiltinESMExports();

/** Where files are for the library, so that no folder above them has the name of a type of components. */
export const ROOT = '/p';

const requireHere = createRequire(import.meta.url);
const LIBRARY = '@salesforce/source-deploy-retrieve';
export const sdr = requireHere(LIBRARY) as typeof Sdr;
const requireThere = createRequire(requireHere.resolve(LIBRARY));
const { Lifecycle } = requireThere('@salesforce/core/lifecycle') as {
  Lifecycle: { getInstance: () => { onWarning: (hear: (warning: string) => Promise<void>) => void } };
};
type Ignore = { add: (patterns: string | string[]) => Ignore; ignores: (path: string) => boolean };
export const ignore = requireThere('ignore/index') as () => Ignore;
const { XMLValidator } = requireThere('fast-xml-parser') as {
  XMLValidator: { validate: (text: string) => true | { err: { msg: string; line: number } } };
};
export const xml = XMLValidator;

/** A text in which paths are as the repository has them. */
export const inRepository = (text: string): string => text.replaceAll(`${ROOT}/`, '');

/** What the library warned of. */
export const warnings: string[] = [];
Lifecycle.getInstance().onWarning(async (warning) => {
  if (warnings.length < 100) warnings.push(inRepository(warning).slice(0, 500));
});

// Zips of static resources would hold the time, so that none would be the same twice.
const zip = requireThere('jszip') as { defaults: { date: Date | null } };
zip.defaults.date = new Date('2000-01-01T00:00:00Z');
