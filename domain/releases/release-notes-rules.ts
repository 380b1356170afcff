/** What the notes of a release say, as far as they are written out. */
export interface NotesText {
  repositoryIdentifier: string;
  releaseName: string;
  domains: readonly {
    domain: string;
    previousReleaseName: string | null;
    deployments: readonly { environment: string; deployedAt: string; isRolledBack: boolean }[];
    workItems: readonly { key: string; url: string | null; commits: readonly string[] }[];
    packages: readonly {
      packageName: string;
      direction: 'install' | 'upgrade' | 'downgrade' | 'remove';
      fromVersion: string | null;
      toVersion: string | null;
      totalCommits: number;
      commits: readonly { sha: string; message: string; authorName: string }[];
      missingChangelog: string | null;
    }[];
  }[];
}

type Domain = NotesText['domains'][number];
type Package = Domain['packages'][number];

/** How a format writes the parts of notes; texts come as they are and have to be made harmless. */
interface Format {
  text: (raw: string) => string;
  code: (raw: string) => string;
  link: (raw: string, url: string) => string;
  heading: (level: 1 | 2 | 3, content: string) => string;
  paragraph: (content: string) => string;
  list: (items: readonly string[]) => string;
  document: (title: string, content: string) => string;
}

/** One line without control characters, and without those that change the direction of what follows. */
export const plainLine = (raw: string): string =>
  raw
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();

/** An address that a reader may follow; undefined for one of another kind. */
function webAddress(url: string | null): string | undefined {
  const parsed = url === null ? null : URL.parse(url);
  return parsed && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed.href : undefined;
}

const SHA_LENGTH = 8;

/** Writes the notes of a release. */
export function writeNotes(notes: NotesText, format: Format): string {
  const { heading, text, document } = format;
  const title = `${notes.releaseName} – ${notes.repositoryIdentifier}`;
  return document(
    title,
    [heading(1, text(title)), ...notes.domains.flatMap((each) => domainNotes(each, format))].join(''),
  );
}

function domainNotes(
  { domain, previousReleaseName, deployments, workItems, packages }: Domain,
  format: Format,
): string[] {
  const { heading, paragraph, list, text, link } = format;
  const since =
    previousReleaseName === null ? 'The first release of its domain' : `Changes since ${previousReleaseName}`;
  return [
    heading(2, text(domain)),
    paragraph(text(`${since}.`)),
    ...(deployments.length > 0
      ? [
          list(
            deployments.map(({ environment, deployedAt, isRolledBack }) =>
              text(`${environment}: ${deployedAt}${isRolledBack ? ', taken back' : ''}`),
            ),
          ),
        ]
      : []),
    ...(workItems.length > 0
      ? [
          heading(3, 'Work items'),
          list(
            workItems.map(({ key, url, commits }) => {
              const address = webAddress(url);
              return `${address === undefined ? text(key) : link(key, address)} (${counted(commits.length, 'commit')})`;
            }),
          ),
        ]
      : []),
    ...packages.flatMap((each) => packageNotes(each, format)),
    ...(packages.length === 0 ? [paragraph('No package changes.')] : []),
  ];
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function packageNotes(
  { packageName, direction, fromVersion, toVersion, totalCommits, commits, missingChangelog }: Package,
  { heading, paragraph, list, text, code }: Format,
): string[] {
  const versions = {
    install: `${toVersion}, new`,
    remove: `${fromVersion}, removed`,
    upgrade: `${fromVersion} → ${toVersion}`,
    downgrade: `${fromVersion} → ${toVersion}, back`,
  }[direction];
  const lines = commits.map(
    ({ sha, message, authorName }) => `${code(sha.slice(0, SHA_LENGTH))} ${text(message)} (${text(authorName)})`,
  );
  const more = totalCommits - commits.length;
  return [
    heading(3, text(`${packageName} ${versions}`)),
    ...(missingChangelog === null ? [] : [paragraph(text(`The changes are not known. ${missingChangelog}.`))]),
    ...(lines.length > 0 ? [list([...lines, ...(more > 0 ? [`and ${counted(more, 'more commit')}`] : [])])] : []),
  ];
}
