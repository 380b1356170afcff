import { parentPort, workerData } from 'node:worker_threads';
import { ZipDefect } from '../../kernel/shared/zip-entries.ts';
import { createStandIns } from '../recording/secret-fields.ts';
import { FormatError, type Imported } from './imported.ts';
import type { ImportOrder, ImportOutcome } from './read-import.ts';
import { TooManyValuesError } from './sample-schema-rules.ts';

/** Each format is loaded when it is read: in a new thread that takes longer than to read most documents. */
async function read({ format, content, isPacked, standInKey, origin, validates }: ImportOrder): Promise<Imported> {
  switch (format) {
    case 'yaml':
      return (await import('./yaml-format.ts')).importYaml(content);
    case 'har':
      return (await import('./har.ts')).importHar(content, createStandIns(standInKey), origin);
    case 'openapi':
      return (await import('./openapi.ts')).importOpenApi(content, { validates });
    case 'wiremock': {
      const { importWireMock, importWireMockArchive } = await import('./wiremock.ts');
      return isPacked ? importWireMockArchive(Buffer.from(content, 'base64')) : importWireMock(content);
    }
  }
}

async function outcome(order: ImportOrder): Promise<ImportOutcome> {
  try {
    return { imported: await read(order) };
  } catch (error) {
    if (error instanceof FormatError || error instanceof TooManyValuesError || error instanceof ZipDefect)
      return { refusal: error.message };
    // Too deep, or a text that would be too long to write.
    if (error instanceof RangeError) return { refusal: 'The document is too large when it is read' };
    throw error;
  }
}

parentPort?.postMessage(await outcome(workerData as ImportOrder));
