import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { createAccessTokens } from '../domain/identity/auth/access-tokens.ts';
import { createAuthenticator } from '../domain/identity/auth/authenticator.ts';
import { createSignInThrottle } from '../domain/identity/auth/sign-in-throttle.ts';
import { type ActingAs, createSessions } from '../domain/identity/auth/sessions.ts';
import { isPasswordRight, hashPassword } from '../domain/kernel/encryption/secrets.ts';
import { createSignIn } from '../domain/identity/auth/sign-in.ts';
import { createTokenRing } from '../domain/kernel/encryption/token-ring.ts';
import { migrate } from '../domain/migrate.ts';
import { connectOrm } from '../domain/orm.ts';
import { connectDatabase } from '../domain/kernel/data/database.ts';
import { createEncryption } from '../domain/kernel/encryption/encryption.ts';
import { generateKeys } from '../domain/kernel/encryption/keys.ts';
import { createProvisioning } from '../domain/identity/users/provisioning.mutations.ts';
import { unitOfWork } from '../domain/unit-of-work.ts';
import { startPostgres } from '../tools/embedded-postgres.ts';
import { cpuTimes } from './cpu.ts';
import { Figures, quantile } from './figures.ts';

/**
 * Measures, in this process, how long it takes to find whose a credential is, and what a sign-in by password takes
 * beside the password's hash. Options: `--rounds 3`, `--checks 2000` and `--sign-ins 40` per round.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    checks: { type: 'string', default: '2000' },
    'sign-ins': { type: 'string', default: '40' },
  },
});
const PASSWORD = 'a password for one run';
/** Longer than the pause between two queries under load: what is measured is a check by itself. */
const PAUSE_MS = 2;
const OWNER = 'owner@bench.example';

const dataDir = mkdtempSync(join(tmpdir(), 'quayside-bench-'));
// As root, PostgreSQL runs as another user, who must be able to walk through it.
chmodSync(dataDir, 0o755);
const postgres = await startPostgres({ dataDir });
await migrate(postgres.url);
const access = { databaseUrl: postgres.url, role: 'quayside_app' };
const [orm, lookups, asOwner] = [
  connectOrm(access),
  connectDatabase(access, console.error),
  connectOrm({ databaseUrl: postgres.url, poolSize: 1 }),
];
const keys = generateKeys();
const encryption = createEncryption(keys.encryptionKeys);
const accessTokens = createAccessTokens(createTokenRing(keys.tokenKeys), 'http://bench.example');
const email = 'user@elsewhere.example';
/** As a provider signs it, with a key that is not of this service. */
const { signing: providersKey } = createTokenRing(generateKeys().tokenKeys.replace(/^[^:]+/, 'of-the-provider'));
const providersToken = await new SignJWT({ email: OWNER, email_verified: true })
  .setProtectedHeader({ alg: 'EdDSA', kid: providersKey.kid })
  .setIssuer('http://provider.example')
  .setExpirationTime('1h')
  .sign(providersKey.privateKey);
const identityProvider = {
  verify: async () => ({ outcome: 'valid' as const, identity: { email: OWNER, aal: 'aal1' as const } }),
};
const database = lookups.db;
const actingAs: ActingAs = (actor, context = {}) => unitOfWork(orm, { actor, ...context });
const sessions = createSessions({ database, actingAs, accessTokens });
const signIn = createSignIn({
  database,
  actingAs,
  accessTokens,
  encryption,
  identityProvider,
  signInThrottle: createSignInThrottle(database),
  now: () => new Date(),
});
const authenticator = createAuthenticator({
  database,
  accessTokens,
  identityProvider,
  actingAs,
  onError: console.error,
});

/** Milliseconds of each of many calls, one after another, with a pause before each when one is given. */
async function timed(count: number, call: (at: number) => Promise<unknown>, pauseMs = 0): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at++) {
    if (pauseMs > 0) await sleep(pauseMs);
    const began = performance.now();
    await call(at);
    times.push(performance.now() - began);
  }
  return times;
}

/** Begins to measure CPU; the answer gives what this process and PostgreSQL have used since, in milliseconds. */
function measureCpu() {
  const ofPostgres = () => cpuTimes({ PostgreSQL: postgres.pid }).PostgreSQL ?? 0;
  const [own, before] = [process.cpuUsage(), ofPostgres()];
  return () => {
    const { user, system } = process.cpuUsage(own);
    return { Node: (user + system) / 1_000, PostgreSQL: ofPostgres() - before };
  };
}

try {
  const provisioning = createProvisioning(asOwner);
  await provisioning.createTenant({ slug: 'bench', ownerEmail: OWNER, password: PASSWORD });
  const { token: applicationToken } = await provisioning.createToken({
    tenant: 'bench',
    name: 'bench',
    expiresInDays: 1,
  });
  const byPassword = (as: string, password: string, address: string) =>
    signIn.byPassword({ email: as, password, address });
  const login = async (): Promise<void> => {
    const result = await byPassword(OWNER, PASSWORD, 'bench');
    if (result.outcome === 'proven') await sessions.beginWithTokens(result.proof, 'bench');
    else throw new Error(`the sign-in ended ${result.outcome}`);
  };
  const result = await byPassword(OWNER, PASSWORD, 'bench');
  if (result.outcome !== 'proven') throw new Error(`the sign-in ended ${result.outcome}`);
  const { accessToken } = await sessions.beginWithTokens(result.proof, 'bench');
  const cookie = await sessions.beginWithCookie(result.proof, 'bench');
  const hash = await hashPassword(PASSWORD);

  const [checks, signIns] = [Number(options.checks), Number(options['sign-ins'])];
  const credentials = [
    ['access token', () => authenticator.byBearer(accessToken)],
    ['application token', () => authenticator.byBearer(applicationToken)],
    ['session cookie', () => authenticator.byCookie(cookie)],
    ["identity provider's token, checked before", () => authenticator.byBearer(providersToken)],
  ] as const;
  for (const [, check] of credentials) await timed(200, check);
  await timed(5, login);

  const figures = new Figures();
  for (let round = 1; round <= Number(options.rounds); round++) {
    console.log(`round ${round}`);
    for (const [name, check] of credentials) {
      const times = await timed(checks, check, PAUSE_MS);
      figures.note(`${name}: p50`, quantile(times, 0.5) * 1_000, 'µs', '<= 300');
      figures.note(`${name}: p99`, quantile(times, 0.99) * 1_000, 'µs');
      const cpu = measureCpu();
      const pressed = await timed(checks, check);
      figures.noteCpu(name, cpu(), checks);
      figures.note(`${name}, the next check at once: p50`, quantile(pressed, 0.5) * 1_000, 'µs');
    }
    const hashed = quantile(await timed(signIns, () => isPasswordRight(hash, PASSWORD)), 0.5);
    const signedIn = quantile(await timed(signIns, login), 0.5);
    figures.note('argon2 alone: p50', hashed);
    figures.note('sign-in by password: p50', signedIn);
    figures.note('share of argon2 in it', (hashed / signedIn) * 100, '%', '>= 50');
    // Each from an address of its own, so that none is held back.
    const wrong = quantile(await timed(signIns, (at) => byPassword(OWNER, 'wrong', `${round} ${at}`)), 0.5);
    const unknown = quantile(await timed(signIns, (at) => byPassword(email, 'wrong', `${round} ${at}`)), 0.5);
    figures.note('wrong password of a known user: p50', wrong);
    figures.note('password of an unknown user: p50', unknown);
    figures.note('difference of these two', Math.abs(wrong - unknown), 'ms', '~0');
  }
  figures.print();
} finally {
  await Promise.all([orm.close(true), asOwner.close(true), lookups.close()]);
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
