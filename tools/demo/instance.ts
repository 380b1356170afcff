import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningInstance } from '../instance-lock.ts';
import { dataDirOf } from '../operator-database.ts';
import { OperatorError } from '../operator-error.ts';

/** Where the demo finds the service, and as whom it signs in. */
export interface FoundInstance {
  url: string;
  credentials: { email: string; password: string };
  /** Where the demo keeps what it made. */
  dataDir: string;
  /** What was found, for people. */
  found: string;
}

/**
 * Finds the running service: that of `DATA_DIR`, or the one that is named.
 * @param url of a service that runs elsewhere. Throws `OperatorError` saying what to set.
 */
export function findInstance(url: string | undefined, env: NodeJS.ProcessEnv): FoundInstance {
  const dataDir = dataDirOf(env);
  const running = runningInstance(dataDir);
  const byPort = env.PORT ? `http://127.0.0.1:${env.PORT}` : undefined;
  const address = url ?? running?.url ?? byPort;
  if (address === undefined) {
    throw new OperatorError(
      running
        ? `The service of ${dataDir} is still starting: try again when it says that it is ready.`
        : `No service runs on ${dataDir}: start it with npm start, or set DATA_DIR to the folder that the running one was started with. For one that was started otherwise, give --url (or set PORT) and set DEMO_EMAIL and DEMO_PASSWORD.`,
    );
  }
  return {
    url: address,
    dataDir,
    credentials: credentialsOf(dataDir, env),
    found: address === running?.url ? `${address}, data in ${dataDir}` : address,
  };
}

function credentialsOf(dataDir: string, env: NodeJS.ProcessEnv): { email: string; password: string } {
  const { DEMO_EMAIL: email, DEMO_PASSWORD: password } = env;
  if (email && password) return { email, password };
  const file = join(dataDir, 'owner.json');
  if (!existsSync(file)) {
    throw new OperatorError(
      `Nobody to sign in as: there is no ${file}. Set DATA_DIR to the folder that the running service was started with, or set DEMO_EMAIL and DEMO_PASSWORD to those of an owner.`,
    );
  }
  return JSON.parse(readFileSync(file, 'utf8')) as { email: string; password: string };
}
