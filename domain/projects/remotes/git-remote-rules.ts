import { parseHost } from '../../kernel/outbound/host-rules.ts';

/** A remote that git may be given. `url` is rebuilt from parts that mean the same to every parser. */
export type GitRemote =
  | { transport: 'https' | 'ssh'; url: string /** In lower case; IPv6 in brackets. */; host: string; port: number }
  | { transport: 'file'; url: string };

export type ParsedRemote = { isOk: true; remote: GitRemote } | { isOk: false; reason: string };

const REMOTE_MAX = 2_000;
const DEFAULT_PORTS = { https: 443, ssh: 22 };

/** The form is refused; the message completes "The remote address …". */
class RefusedForm extends Error {}

/**
 * Reads the address of a git remote: `https://host/path`, `ssh://user@host/path`, `user@host:path`; and paths on this
 * machine (`/path`, `file:///path`), for which the caller decides whether they are permitted.
 *
 * URL parsers of Node, git, curl and ssh disagree about many inputs (backslashes, several `@`, numeric hosts, escapes), and
 * what is checked by one would be called by another. So only what all of them read alike is accepted.
 */
export function parseGitRemote(text: string): ParsedRemote {
  try {
    return { isOk: true, remote: parse(text) };
  } catch (error) {
    if (error instanceof RefusedForm) return { isOk: false, reason: `The remote address ${error.message}` };
    throw error;
  }
}

/** A remote as it is shown. Rows of earlier versions may contain secrets in forms that are refused now: null. */
export const shownRemote = (text: string | null): string | null =>
  text === null || parseGitRemote(text).isOk ? text : null;

function parse(text: string): GitRemote {
  rejectIf(text.length > REMOTE_MAX, `is longer than ${REMOTE_MAX} characters`);
  rejectIf(/[\s\p{C}]/u.test(text), 'contains spaces, control or invisible characters');
  rejectIf(text.includes('\\'), 'contains a backslash');
  rejectIf(/[?#]/.test(text), 'contains a query or a fragment');
  rejectIf(/@[^]*@/.test(text), 'contains more than one @');
  rejectIf(text.startsWith('-'), 'begins with a dash');
  if (text.startsWith('/')) return local(text);
  const [, scheme, rest = ''] = /^([^/@]*):\/\/([^]*)$/.exec(text) ?? [];
  if (scheme === 'https') return byHttps(rest);
  if (scheme === 'ssh') return bySsh(rest);
  if (scheme === 'file') return local(rest);
  rejectIf(scheme !== undefined, 'is neither https nor ssh');
  return byShortSsh(text);
}

function byHttps(rest: string): GitRemote {
  const { user, host, port, path } = splitAddress(rest, DEFAULT_PORTS.https);
  const segments = segmentsOf(path);
  rejectIf(
    user !== undefined && !isOrganization(user, host, segments),
    'contains a user name or a token; store credentials as an integration',
  );
  return { transport: 'https', host, port, url: `https://${authority(host, port, 'https')}/${encoded(segments)}` };
}

/** Without a user it is `git`, as at all git hosts: ssh would take the account of the service. */
function bySsh(rest: string): GitRemote {
  const { user = 'git', host, port, path } = splitAddress(rest, DEFAULT_PORTS.ssh);
  assertSshUser(user);
  const url = `ssh://${user}@${authority(host, port, 'ssh')}/${encoded(segmentsOf(path))}`;
  return { transport: 'ssh', host, port, url };
}

/** The short form of ssh, `git@host:path`, whose path is literal. */
function byShortSsh(text: string): GitRemote {
  const [, user = '', name = '', path = ''] = /^([^@:/]*)@([^@:/]*):([^@]+)$/.exec(text) ?? [];
  rejectIf(path === '', 'is neither an https nor an ssh address');
  assertSshUser(user);
  const host = hostOf(name);
  rejectIf(!/^(?:[\p{L}\p{N}._~+/-]|%20)+$/u.test(path) || path.startsWith('-'), 'has a path with unusual characters');
  assertSegments(path.replace(/^\//, '').split('/'));
  return { transport: 'ssh', host, port: DEFAULT_PORTS.ssh, url: `${user}@${host}:${path}` };
}

function local(path: string): GitRemote {
  rejectIf(!path.startsWith('/') || path.includes('%'), 'is not an absolute path');
  assertSegments(path.slice(1).split('/'));
  return { transport: 'file', url: path };
}

/** Splits `user@host:port/path`. */
function splitAddress(rest: string, defaultPort: number) {
  const [, userInfo, name = '', digits, path = ''] = ADDRESS.exec(rest) ?? [];
  rejectIf(path === '', 'has no host or no path');
  rejectIf(userInfo?.includes(':') === true, 'contains a password; store credentials as an integration');
  rejectIf(userInfo === '', 'has an empty user name');
  rejectIf(digits !== undefined && !/^[1-9]\d{0,4}$/.test(digits), 'has a port that is not from 1 to 65535');
  const port = digits === undefined ? defaultPort : Number(digits);
  rejectIf(port > 65_535, 'has a port that is not from 1 to 65535');
  return { user: userInfo, host: hostOf(name), port, path };
}
const ADDRESS = /^(?:([^@/]*)@)?(\[[^\]@/]*\]|[^:@/[\]]*)(?::([^@/]*))?\/([^]+)$/;

function hostOf(name: string): string {
  const parsed = parseHost(name);
  if (!parsed.isOk) throw new RefusedForm(`has a host ${parsed.reason}`);
  return parsed.host;
}

const authority = (host: string, port: number, scheme: keyof typeof DEFAULT_PORTS): string =>
  port === DEFAULT_PORTS[scheme] ? host : `${host}:${port}`;

/** Clone addresses of Azure DevOps begin with the organization: `https://acme@dev.azure.com/acme/…`. It is left out. */
const isOrganization = (user: string, host: string, [first = '']: readonly string[]): boolean =>
  (host === 'dev.azure.com' && user.toLowerCase() === first.toLowerCase()) ||
  host === `${user.toLowerCase()}.visualstudio.com`;

/** Names of accounts are short (useradd allows 32 characters), tokens of git hosts are longer or begin as here. */
function assertSshUser(user: string): void {
  rejectIf(!/^[A-Za-z\d_][A-Za-z\d_.-]{0,31}$/.test(user), 'has a user that is not the name of an account');
  rejectIf(
    /^(gh[a-z]_|github_pat_|gl[a-z]+-|qs_)/i.test(user),
    'contains a token; store credentials as an integration',
  );
}

/** The decoded segments of a URL's path. A slash at its end is left out. */
function segmentsOf(path: string): string[] {
  const segments = path.replace(/\/$/, '').split('/').map(decoded);
  assertSegments(segments);
  rejectIf(
    segments.some((segment) => /[\p{C}\\/?#%@]|^\s|\s$|[^\S ]/u.test(segment)),
    'has escapes in its path that could be read in several ways',
  );
  return segments;
}

function assertSegments(segments: readonly string[]): void {
  rejectIf(
    segments.some((segment) => segment === '' || segment === '.' || segment === '..'),
    'has a path with empty or relative segments',
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RefusedForm('has malformed escapes in its path');
  }
}

const encoded = (segments: readonly string[]): string => segments.map(encodeURIComponent).join('/');

function rejectIf(isInvalid: boolean, reason: string): void {
  if (isInvalid) throw new RefusedForm(reason);
}
