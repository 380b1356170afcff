import { parentPort, workerData } from 'node:worker_threads';
import { ZipDefect } from '../../kernel/shared/zip-entries.ts';
import { createStandIns } from '../recording/secret-fields.ts';
import { importHar } from './har.ts';
import { FormatError, type Imported } from './imported.ts';
import { importOpenApi } from './openapi.ts';
import type { ImportOrder, ImportOutcome } from './read-import.ts';
import { TooManyValuesError } from './sample-schema-rules.ts';
import { importWireMock, importWireMockArchive } from './wiremock.ts';
import { importYaml } from './yaml-format.ts';

function read({ format, content, isPacked, standInKey, origin, validates }: ImportOrder): Imported | Promise<Imported> {
  switch (format) {
    case 'yaml':
      return importYaml(content);
    case 'har':
      return importHar(content, createStandIns(standInKey), origin);
    case 'openapi':
      return importOpenApi(content, { validates });
    case 'wiremock':
      return isPacked ? importWireMockArchive(Buffer.from(content, 'base64')) : importWireMock(content);
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
