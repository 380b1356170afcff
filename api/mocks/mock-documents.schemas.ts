import { z } from 'zod';
import { IMPORT_FORMATS } from '../../domain/mocks/formats/read-import.ts';
import { MockName, MockScenario } from './mocks.schemas.ts';

/** HTTP archives of browsers have the bodies of all answers. */
export const IMPORT_MAX_BYTES = 50 * 1024 * 1024;

export const ImportIn = z
  .strictObject({
    name: MockName.meta({ example: 'release/2026.03' }),
    format: z.enum(IMPORT_FORMATS).meta({
      description:
        '`yaml`: an export; `har`: HTTP archive 1.2; `openapi`: OpenAPI 3, JSON or YAML; `wiremock`: stub mappings',
    }),
    content: z.string().min(1).optional().meta({
      description: 'The document as a text',
      example: '{"request": {"method": "GET", "url": "/orders"}, "response": {"jsonBody": []}}',
    }),
    contentBase64: z.string().min(1).optional().meta({
      description:
        'Instead of `content`, of WireMock: base64 of a zip with its folders `mappings` and `__files`, at the top or within others. At most 20,000 files, of 16 MB each and 128 MB together, without symbolic links',
    }),
    origin: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .transform((url) => new URL(url).origin)
      .optional()
      .meta({ description: 'Host whose requests of an HTTP archive are taken. Default: that of the most requests' }),
    validates: z.boolean().optional().meta({
      description:
        'For OpenAPI: requests that break the document get 400, or 422 where the operation has it, and what is wrong with them. Default: true',
    }),
  })
  .refine(({ content, contentBase64 }) => (content === undefined) !== (contentBase64 === undefined), {
    path: ['content'],
    error: 'or contentBase64 must be given, and not both',
  })
  .refine(({ format, contentBase64 }) => contentBase64 === undefined || format === 'wiremock', {
    path: ['contentBase64'],
    error: 'is taken of the format wiremock alone',
  });

export const ImportOut = z
  .object({
    scenario: MockScenario,
    notTaken: z
      .array(
        z.object({
          pointer: z.string().meta({
            description:
              'JSON pointer into the document; empty: the document as a whole. Of a zip it begins with the path of a file',
          }),
          reason: z.string(),
        }),
      )
      .meta({ description: 'What was not taken, or not as it was written; the first 500' }),
  })
  .meta({ id: 'MockImport' });
