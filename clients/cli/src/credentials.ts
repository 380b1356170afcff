import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, dataOf, ProblemError, refreshTokens } from '@quayside/client';
import { CommandError, EXIT } from './exit.ts';

/** How somebody is signed in at one service: with an application token, or with a session. */
export interface Signed {
  token?: string;
  accessToken?: string;
  refreshToken?: string;
  email?: string;
}

interface Stored {
  /** Where `quayside login` signed in last. */
  current?: string;
  services: Record<string, Signed>;
}

/** Old enough that whoever holds the lock has died: a refresh takes seconds. */
const LOCK_STALE_MS = 60_000;
/** How long before its end a token is renewed. */
const RENEW_MS = 30_000;
/** A renewal that takes longer is given up. */
const RENEWAL_MAX_MS = 20_000;

/** The file of credentials; each change replaces it whole, readable by its owner alone. */
export class CredentialsFile {
  readonly path: string;
  readonly #signal: AbortSignal;

  /** @param signal ends what waits for other processes or for the service. */
  constructor(signal = new AbortController().signal, home = homedir()) {
    this.#signal = signal;
    this.path = join(home, '.config/quayside/credentials.json');
  }

  read(): Stored {
    try {
      const stored = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<Stored>;
      return { ...stored, services: stored.services ?? {} };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { services: {} };
      throw new CommandError(EXIT.usage, 'usage', `${this.path} cannot be read: ${(error as Error).message}`);
    }
  }

  /** Notes how somebody is signed in at a service; undefined: no more. */
  async note(url: string, signed: Signed | undefined): Promise<void> {
    await this.#locked(() => this.#write(url, signed, { isCurrent: true }));
  }

  #write(url: string, signed: Signed | undefined, { isCurrent }: { isCurrent: boolean }): void {
    const { current, services } = this.read();
    const { [url]: _, ...others } = services;
    const kept: Stored = {
      ...(signed
        ? { current: isCurrent ? url : (current ?? url) }
        : current !== undefined && current !== url && { current }),
      services: { ...others, ...(signed && { [url]: signed }) },
    };
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.path);
  }

  /**
   * The token for a service; undefined: nobody is signed in there. A session that is about to end is renewed, by one process
   * at a time: its refresh token can be used once.
   */
  async tokenFor(url: string): Promise<string | undefined> {
    const signed = this.read().services[url];
    if (signed === undefined || signed.token !== undefined) return signed?.token;
    if (!isEnding(signed.accessToken)) return signed.accessToken;
    return this.#locked(async () => {
      const now = this.read().services[url];
      if (now === undefined || !isEnding(now.accessToken)) return now?.accessToken;
      return this.#renew(url, now);
    });
  }

  async #renew(url: string, { refreshToken = '', ...signed }: Signed): Promise<string> {
    try {
      const body = { refresh_token: refreshToken };
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(RENEWAL_MAX_MS)]);
      const client = createClient({ url, signal });
      const renewed = await dataOf(refreshTokens({ client, body }));
      const next = { ...signed, accessToken: renewed.access_token, refreshToken: renewed.refresh_token };
      this.#write(url, next, { isCurrent: false });
      return next.accessToken;
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status !== 401) throw error;
      throw new CommandError(EXIT.refused, 'unauthenticated', `The session at ${url} has ended: quayside login`);
    }
  }

  async #locked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const lock = `${this.path}.lock`;
    mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
    while (!take(lock)) {
      if (isStale(lock)) takeAway(lock);
      else await sleep(50, undefined, { signal: this.#signal });
    }
    try {
      return await work();
    } finally {
      rmSync(lock, { force: true });
    }
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a stale lock away. Of several processes one does: what the others move is the lock of that one, and is put back. */
function takeAway(lock: string): void {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (!isStale(aside)) linkSync(aside, lock);
  } catch {
    // Another process was first.
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Held by a process that has died, or for too long. */
function isStale(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (Date.now() - statSync(lock).mtimeMs > LOCK_STALE_MS) return true;
    if (!pid) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Whether an access token ends soon, or says nothing of its end. */
function isEnding(accessToken: string | undefined): boolean {
  const [, claims = ''] = accessToken?.split('.') ?? [];
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp?: number };
    return exp === undefined || exp * 1_000 - Date.now() < RENEW_MS;
  } catch {
    return true;
  }
}
