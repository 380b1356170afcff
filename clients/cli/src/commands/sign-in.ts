import { type Client, createClient, dataOf, getCurrentUser, ProblemError, signIn, signOut } from '@quayside/client';
import { type Context, type GlobalOptions, limited, serviceUrl } from '../context.ts';
import { CredentialsFile, type Signed } from '../credentials.ts';
import { CommandError, exitCodeOf, isForTheMoment, usage } from '../exit.ts';
import { ask, standardInput } from '../input.ts';
import { fields, type Outcome } from '../output.ts';

export interface LoginOptions {
  email?: string;
  passwordStdin?: boolean;
  totpStdin?: boolean;
  tokenStdin?: boolean;
}

interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** Ends with the time-out of the command. */
  signal: AbortSignal;
}

/** Signs in at a service, and keeps how in the file; asks on a terminal for what is not given. */
export async function login(
  globals: GlobalOptions,
  options: LoginOptions,
  { env, signal }: Surroundings,
): Promise<Outcome> {
  const isGiven = options.tokenStdin || options.passwordStdin;
  if (options.tokenStdin && options.passwordStdin) throw usage('Give --token-stdin or --password-stdin');
  if (options.totpStdin && !options.passwordStdin) throw usage('--totp-stdin needs --password-stdin');
  if (options.passwordStdin && !options.email) throw usage('--password-stdin needs --email');
  if (!isGiven && !process.stdin.isTTY)
    throw usage('There is no terminal: give --token-stdin, or --email and --password-stdin');
  const url = serviceUrl(await named(globals, env), env);
  const signed: Signed = options.tokenStdin
    ? { token: standardInput().trim() }
    : await passwordSignIn(createClient({ url, signal, fetch: limited }), globals, options);
  const client = createClient({ url, token: signed.token ?? signed.accessToken ?? '', signal, fetch: limited });
  const { email, role } = await dataOf(getCurrentUser({ client }));
  const file = new CredentialsFile(signal);
  await file.note(url, { ...signed, email });
  return { data: { url, email, role }, text: `signed in at ${url} as ${email} (${role})` };
}

async function named(globals: GlobalOptions, env: NodeJS.ProcessEnv): Promise<GlobalOptions> {
  if (globals.url || env.QUAYSIDE_URL || new CredentialsFile().read().current) return globals;
  return process.stdin.isTTY ? { ...globals, url: await ask('Address of the service: ') } : globals;
}

async function passwordSignIn(client: Client, { tenant }: GlobalOptions, options: LoginOptions): Promise<Signed> {
  const lines = options.passwordStdin ? standardInput().split(/\r?\n/) : [];
  const email = options.email ?? (await ask('E-mail: '));
  const password = options.passwordStdin ? (lines[0] ?? '') : await ask('Password: ', { isSecret: true });
  const totp = options.totpStdin ? (lines[1] ?? '') : undefined;
  const body = { email, password, ...(tenant && { tenant }) };
  const first = await signIn({ client, body: { ...body, ...(totp && { totp }) } });
  if (first.data !== undefined) return sessionOf(first.data);
  if (first.error.secondFactor !== 'totp' || totp !== undefined || !process.stdin.isTTY)
    throw new ProblemError(first.error);
  const code = await ask('Code of the second factor: ', { isSecret: true });
  return sessionOf(await dataOf(signIn({ client, body: { ...body, totp: code } })));
}

const sessionOf = (session: { access_token: string; refresh_token: string }): Signed => ({
  accessToken: session.access_token,
  refreshToken: session.refresh_token,
});

/**
 * Ends the session at a service, and forgets it, also where the service does not answer: that is said then. A token stays
 * valid: it is deleted where it was made.
 */
export async function logout(globals: GlobalOptions, { env, signal }: Surroundings): Promise<Outcome> {
  const url = serviceUrl(globals, env);
  const file = new CredentialsFile(signal);
  const signed = file.read().services[url];
  if (signed === undefined) return { data: { url, signedOut: false }, text: `nobody is signed in at ${url}` };
  const { refreshToken } = signed;
  const client = createClient({ url, signal, fetch: limited });
  const { error } =
    refreshToken === undefined
      ? { error: undefined }
      : await signOut({ client, body: { refresh_token: refreshToken } });
  await file.note(url, undefined);
  // Other refusals are of a session that has ended already.
  if (error !== undefined && isForTheMoment(error))
    throw new CommandError(
      exitCodeOf(error),
      error.code,
      `The credential is forgotten here, but the session at ${url} goes on: ${error.detail}`,
    );
  return { data: { url, signedOut: true }, text: `signed out at ${url}` };
}

export async function whoami({ client, url }: Context): Promise<Outcome> {
  const data = await dataOf(getCurrentUser({ client }));
  const { email, role, teams } = data;
  return { data: { ...data, url }, text: fields({ email, role, teams: teams.join(', '), url }) };
}
