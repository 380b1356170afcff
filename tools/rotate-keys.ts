import { ENCRYPTED_COLUMNS } from '../domain/areas.ts';
import { rotateKeys, type RotatedColumn } from '../domain/kernel/encryption/rotation.ts';
import { connectOrm } from '../domain/orm.ts';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import { readEnvironment } from '../domain/kernel/settings/config.ts';
import { createEncryption, type Encryption } from '../domain/kernel/encryption/encryption.ts';
import { createProvisioning } from '../domain/identity/users/provisioning.mutations.ts';
import { asOperatorError, operatorAccess, operatorDatabaseUrl } from './operator-database.ts';
import { exitWith, OperatorError } from './operator-error.ts';

function configuredEncryption(): Encryption {
  const keys = readEnvironment(process.env).ENCRYPTION_KEYS;
  if (!keys) throw new OperatorError('rotate-keys needs ENCRYPTION_KEYS: the new key first, the old ones behind it.');
  try {
    return createEncryption(keys);
  } catch (error) {
    throw new OperatorError(`ENCRYPTION_KEYS is malformed: ${(error as Error).message}.`);
  }
}

async function rotate(databaseUrl: string, encryption: Encryption): Promise<RotatedColumn[]> {
  const { db, close } = connectDatabase({ ...operatorAccess(databaseUrl), poolSize: 1 }, () => undefined);
  try {
    return await rotateKeys(db, encryption, ENCRYPTED_COLUMNS);
  } finally {
    await close();
  }
}

async function note(databaseUrl: string, keyId: string): Promise<void> {
  const orm = connectOrm(operatorAccess(databaseUrl));
  try {
    await createProvisioning(orm).noteKeyRotation(keyId);
  } finally {
    await orm.close(true);
  }
}

async function main(): Promise<void> {
  const encryption = configuredEncryption();
  const url = operatorDatabaseUrl(process.env);
  try {
    const columns = await rotate(url, encryption);
    if (columns.some(({ reencrypted }) => reencrypted > 0)) await note(url, encryption.currentKeyId);
    console.log(JSON.stringify({ keyId: encryption.currentKeyId, columns }, null, 2));
    const unreadable = columns.reduce((sum, column) => sum + column.unreadable, 0);
    if (unreadable > 0)
      throw new OperatorError(
        `${unreadable} values are under keys that ENCRYPTION_KEYS does not hold; keep those keys and run this again.`,
      );
  } catch (error) {
    throw asOperatorError(error, url, process.env);
  }
}

try {
  await main();
} catch (error) {
  exitWith(error);
}
