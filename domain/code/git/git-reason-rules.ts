import type { GitCredential } from './mirror/git-mirrors.port.ts';

const REASON_MAX = 300;
/** A process of git states the cause before what follows from it. */
const STATEMENT = /^(?:remote: )?(?:fatal|error): (?<text>.+)$/;
/** What the remote's end says of another of its processes, which may be heard before that one's own words. */
const FOLLOWS = /^git upload-pack: /;
const ADDRESSES = [/[a-z][a-z0-9+.-]*:\/\/[^\s'"]+/gi, /[^\s@'"]+@[^\s:'"]+:\S*/g];
const PATHS = /(?<![\w.])(?:\.{0,2}\/|~\/)[^\s'",;)]*|[\w.-]+\/[\w./-]+/g;

/**
 * What git says is wrong, for people: the first two of its statements, without addresses, paths and credentials.
 * Undefined if it says nothing.
 */
export function gitReason(stderr: string, credential?: GitCredential): string | undefined {
  const statements = stderr
    .split(/[\r\n]+/)
    .flatMap((line) => STATEMENT.exec(line.trim())?.groups?.text ?? [])
    .map((text) => withoutPlaces(text, secretsOf(credential)));
  const causesFirst = statements.toSorted((a, b) => Number(FOLLOWS.test(a)) - Number(FOLLOWS.test(b)));
  const reason = [...new Set(causesFirst)].slice(0, 2).join('; ');
  return reason === '' ? undefined : reason.slice(0, REASON_MAX).toWellFormed();
}

const secretsOf = ({ username, password, privateKey }: Partial<GitCredential> = {}): string[] =>
  [username, password, privateKey].flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : []));

function withoutPlaces(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, '…');
  for (const address of ADDRESSES) shown = shown.replaceAll(address, '…');
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed
  return shown.replaceAll(PATHS, '…').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
