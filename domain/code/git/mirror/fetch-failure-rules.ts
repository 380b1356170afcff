import type { Remote } from './git-mirrors.port.ts';
import { gitReason } from '../git-reason-rules.ts';

export const DISK_FULL = 'There is no space left for the mirror';
const NO_ANSWER = 'The remote did not answer in time';
const UNDER_WAY = 'Another fetch of the mirror is under way';
const NOT_REACHABLE = 'The remote is not reachable';
/** What goes by itself. */
const PASSING: ReadonlySet<string> = new Set([NO_ANSWER, UNDER_WAY, NOT_REACHABLE]);
const DISK_FULL_MESSAGE = /No space left on device|disk quota exceeded|file too large|ENOSPC|EDQUOT|EFBIG/i;
/** Messages of git in the C locale, and the reasons that people are shown for them. */
const FAILURES: readonly [RegExp, string][] = [
  [DISK_FULL_MESSAGE, DISK_FULL],
  [/error: 30[12378]/, 'The remote redirects to another address; redirects are not followed, so register that address'],
  [
    /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/,
    'The ssh host key of the remote is not the one that it showed first',
  ],
  [/Operation too slow|timed out|Timeout, server/i, NO_ANSWER],
  [
    /Authentication failed|could not read (Username|Password)|Permission denied|HTTP 40[13]|error: 40[13]|access denied/i,
    'The remote refused the credentials',
  ],
  [
    /not found|does not exist|does not appear to be a git repository|error: 404/i,
    'There is no repository at the address of the remote, or it is not open to these credentials',
  ],
  [
    /transport .* not allowed|credentials in URL|url .* uses plaintext credentials/i,
    'The address of the remote is of a kind that is not read',
  ],
  [/Unable to create .*\.lock|cannot lock ref/i, UNDER_WAY],
  [
    /Could not resolve|Connection (refused|reset|closed)|Could not connect|unreachable|early EOF|hung up|unable to access/i,
    NOT_REACHABLE,
  ],
];
/** Comes before a connection that ends, which is what follows from it. */
const DAMAGED =
  /corrupt|bad (object|tree|commit|pack)|missing (blob|tree|commit|object)|invalid index-pack|inflate|necessary objects|expected object|loose object|protocol error|is empty|unable to (read|parse)/i;

/** Whether somebody must act before the remote can be read; else another attempt may do. */
export const isForPeople = (reason: string): boolean => !PASSING.has(reason);

/** Whether a message of git or of the file system says that the disk is full. */
export const isDiskFull = (message: string): boolean => DISK_FULL_MESSAGE.test(message);

/** The reason that people are shown for a failure of git, from what it wrote to its error output. */
export function fetchFailure(stderr: string, { credential }: Pick<Remote, 'credential'>): string {
  const own = gitReason(stderr, credential);
  const more = own === undefined ? '' : `: ${own}`;
  if (DAMAGED.test(stderr) && !isDiskFull(stderr)) return `git found the repository damaged${more}`;
  return FAILURES.find(([pattern]) => pattern.test(stderr))?.[1] ?? `git could not fetch from the remote${more}`;
}
