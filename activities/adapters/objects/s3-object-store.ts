import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type ObjectStore, ObjectStoreAwayError } from '../../../domain/kernel/objects/object-store.port.ts';
import type { ObjectStoreLocation } from '../../../domain/kernel/objects/object-store-location.ts';
import type { ReportAway } from '../../../domain/kernel/system/outages.ts';
import { isStoreAway } from './s3-trouble-rules.ts';

/**
 * Objects in a bucket of Amazon S3 or of a store that speaks its protocol. Credentials come as the AWS SDK finds them:
 * `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, a profile, or the role of the machine.
 */
export function createS3ObjectStore(
  { bucket, prefix, endpoint, region }: Extract<ObjectStoreLocation, { kind: 's3' }>,
  onAway: ReportAway,
): ObjectStore {
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Other stores than Amazon's do not all know the checksums that the SDK would add.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next) => async (request) => {
      try {
        return await next(request);
      } catch (error) {
        if (!isStoreAway(error)) throw error;
        onAway(error);
        throw new ObjectStoreAwayError(error);
      }
    },
    { step: 'initialize', name: 'reportAway' },
  );
  const placeOf = (key: string) => ({ Bucket: bucket, Key: prefix === '' ? key : `${prefix}/${key}` });
  return {
    async put(key, content, contentType) {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      let broken: unknown;
      const measured = async function* () {
        try {
          for await (const piece of content) {
            hash.update(piece);
            sizeBytes += piece.byteLength;
            yield piece;
          }
        } catch (error) {
          broken = error;
          throw error;
        }
      };
      // In parts, so that neither the size need be known nor the whole be held.
      const upload = new Upload({
        client,
        params: { ...placeOf(key), Body: Readable.from(measured(), { objectMode: false }), ContentType: contentType },
      });
      try {
        await upload.done();
      } catch (error) {
        // Taking back the parts may fail, too; why the content broke off is what counts.
        throw broken ?? error;
      }
      return { sizeBytes, sha256: hash.digest('hex') };
    },

    async get(key, range) {
      const part = range && { Range: `bytes=${range.start}-${range.end}` };
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...placeOf(key), ...part }));
        return Body as Readable | undefined;
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },

    async sizeOf(key) {
      try {
        return (await client.send(new HeadObjectCommand(placeOf(key)))).ContentLength;
      } catch (error) {
        if (error instanceof NotFound) return undefined;
        throw error;
      }
    },

    async *keys() {
      const start = placeOf('').Key.length;
      for await (const { Contents = [] } of paginateListObjectsV2(
        { client },
        { Bucket: bucket, Prefix: placeOf('').Key },
      ))
        for (const { Key = '' } of Contents) yield Key.slice(start);
    },

    async remove(key) {
      await client.send(new DeleteObjectCommand(placeOf(key)));
    },

    // Parts of uploads that came to no end are removed by a rule of the bucket: not every store can list them.
    removeAbandoned: async () => 0,
  };
}
