import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { DomainError, notFound } from '../../../domain/kernel/shared/errors.ts';
import { basePathOf } from './html-page.ts';

/** What `npm run build:console` writes. */
const FOLDER = fileURLToPath(new URL('../../../console/dist', import.meta.url));

/** The pages load and connect to nothing but this service. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
/** Forms that the build made beside a file, the smallest first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** What browsers are told where the console was not built. */
const NOT_BUILT = 'The console has not been built: npm run build:console makes it';

/**
 * `GET /console/…`: the web console. Its files have hashes in their names and are kept for good by browsers; any other path is the
 * page itself, which knows its own addresses and says so where there is none. `GET /` leads to it.
 */
export function mountConsole(router: Router, publicUrl: string): void {
  const base = `${basePathOf(publicUrl)}/console/`;
  const files = createFiles();
  router.get('/', (ctx) => ctx.redirect(base));
  router.get('/console/assets/:name', (ctx) =>
    sendFile(ctx, `assets/${ctx.params.name}`, { files, isImmutable: true }),
  );
  router.get('/console/icon.svg', (ctx) => sendFile(ctx, 'icon.svg', { files, isImmutable: false }));
  const sendPage = async (ctx: Context) => {
    const page = await files.read('index.html');
    if (page === undefined) throw new DomainError('not_found', NOT_BUILT);
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'html';
    ctx.body = page.toString().replace('<base href="/console/" />', `<base href="${base}" />`);
  };
  router.get('/console', (ctx) => (ctx.path.endsWith('/') ? sendPage(ctx) : ctx.redirect(base)));
  router.get('/console/*path', sendPage);
}

interface Files {
  /** The bytes of a file of the build; undefined where there is none. */
  read(name: string): Promise<Buffer | undefined>;
}

/** What the build removes first and writes last, when every file is whole. */
const MARK = '.sources';

/** Reads each file of the build once; all again after another build. While one writes its files there is none. */
export function createFiles(folder = FOLDER): Files {
  let built = 0;
  let names: ReadonlySet<string> = new Set();
  const kept = new Map<string, Promise<Buffer>>();
  async function look(): Promise<void> {
    const at = await stat(join(folder, MARK)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (at === built) return;
    kept.clear();
    names = new Set(at === 0 ? [] : await readdir(folder, { recursive: true }));
    built = at;
  }
  return {
    async read(name) {
      await look();
      if (!names.has(name)) return undefined;
      const found = kept.get(name);
      if (found) return found;
      const bytes = readFile(join(folder, name));
      kept.set(name, bytes);
      bytes.catch(() => {
        if (kept.get(name) === bytes) kept.delete(name);
      });
      return bytes;
    },
  };
}

async function sendFile(
  ctx: Context,
  name: string,
  { files, isImmutable }: { files: Files; isImmutable: boolean },
): Promise<void> {
  const type = TYPES[extname(name)];
  const plain = type === undefined ? undefined : await files.read(name);
  if (type === undefined || plain === undefined) throw notFound('The file');
  ctx.vary('Accept-Encoding');
  ctx.set('Cache-Control', isImmutable ? 'public, max-age=31536000, immutable' : 'public, max-age=3600');
  for (const [encoding, ending] of ENCODINGS) {
    const packed = ctx.acceptsEncodings(encoding) === encoding ? await files.read(name + ending) : undefined;
    if (packed === undefined) continue;
    ctx.set('Content-Encoding', encoding);
    ctx.body = packed;
    ctx.set('Content-Type', type);
    return;
  }
  ctx.body = plain;
  ctx.set('Content-Type', type);
}
