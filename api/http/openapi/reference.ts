import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type Router from '@koa/router';
import type { CompressBody } from '../server/compression.ts';
import type { AnyRoute } from '../define-route.ts';
import { basePathOf } from '../server/html-page.ts';
import { openApiDocument } from './openapi.ts';
import type { ReferenceExamples } from './openapi-examples.ts';

const assetFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const ASSETS: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
};

/** The page may only load from and connect to this service. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page = (basePath: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quayside reference</title>
<link rel="stylesheet" href="${basePath}/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="${basePath}/docs/favicon-32x32.png">
</head>
<body>
<main id="reference"></main>
<script src="${basePath}/docs/swagger-ui-bundle.js"></script>
<script src="${basePath}/docs/start.js"></script>
</body>
</html>
`;

const start = (basePath: string) => `SwaggerUIBundle({
  url: '${basePath}/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: true,
  tagsSorter: 'alpha',
  validatorUrl: null,
});
`;

const EXAMPLES_FILE = new URL('./openapi-examples.json', import.meta.url);

/** Takes a second of CPU and some memory, so it is made at the first request. */
async function referenceText(routes: readonly AnyRoute[], publicUrl: string): Promise<string> {
  const examples = JSON.parse(await readFile(EXAMPLES_FILE, 'utf8')) as ReferenceExamples;
  return JSON.stringify(openApiDocument(routes, publicUrl, examples));
}

/** `GET /openapi.json`: the OpenAPI document. `GET /docs`: the browsable reference, swagger-ui-dist over the document. */
export function mountReference(
  router: Router,
  routes: readonly AnyRoute[],
  { publicUrl, compressBody }: { publicUrl: string; compressBody: CompressBody },
): void {
  const basePath = basePathOf(publicUrl);
  let document: Promise<string> | undefined;
  router.get('/openapi.json', async (ctx) => {
    document ??= referenceText(routes, publicUrl);
    ctx.type = 'application/json';
    ctx.body = await document;
    await compressBody(ctx, { isRepeated: true });
  });
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    ctx.type = 'text/html';
    ctx.body = page(basePath);
  });
  router.get('/docs/start.js', (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = start(basePath);
  });
  for (const [name, type] of Object.entries(ASSETS)) {
    router.get(`/docs/${name}`, async (ctx) => {
      ctx.type = type;
      ctx.set('Cache-Control', 'public, max-age=86400');
      ctx.body = await readFile(join(assetFolder, name));
    });
  }
}
