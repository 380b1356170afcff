/** What the notes of a release say, as far as they are written out. */
export interface NotesText {
  repositoryIdentifier: string;
  releaseName: string;
  domains: readonly {
    domain: string;
    previousReleaseName: string | null;
    /** Environments in which it is held against that. */
    bases: readonly { environment: string }[];
    deployments: readonly { environment: string; deployedAt: string; isRolledBack: boolean }[];
    addedWorkItems: readonly NotedItem[];
    summary: { added: { pullRequests: readonly number[] } };
    /** What packages had before and lose by it. */
    noLongerIncluded: {
      workItems: readonly (NotedItem & { packages: readonly string[] })[];
      pullRequests: readonly number[];
    };
    dependencyCycles: readonly (readonly string[])[];
    packages: readonly {
      packageName: string;
      direction: 'install' | 'upgrade' | 'downgrade' | 'remove';
      fromVersion: string | null;
      toVersion: string | null;
      added: NotedSide;
      removed: NotedSide;
      missingChangelog: { message: string } | null;
    }[];
  }[];
}

interface NotedItem {
  key: string;
  url: string | null;
  totalCommits: number;
}

interface NotedSide {
  totalCommits: number;
  commits: readonly NotedCommit[];
}

interface NotedCommit {
  sha: string;
  message: string;
  authorName: string;
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
  { domain, previousReleaseName, bases, deployments, dependencyCycles, packages, ...changes }: Domain,
  format: Format,
): string[] {
  const { heading, paragraph, list, text } = format;
  const since =
    previousReleaseName === null ? 'The first release of its domain' : `Changes since ${previousReleaseName}`;
  const { addedWorkItems, summary, noLongerIncluded } = changes;
  const requestLine = (numbers: readonly number[]) =>
    numbers.length === 0 ? [] : [text(`Pull requests: ${numbers.map((number) => `#${number}`).join(', ')}`)];
  const gone = [
    ...noLongerIncluded.workItems.map((item) => itemLine(item, format, item.packages)),
    ...requestLine(noLongerIncluded.pullRequests),
  ];
  return [
    heading(2, text(domain)),
    paragraph(
      text(`${since}${bases.length === 0 ? '' : ` (${bases.map(({ environment }) => environment).join(', ')})`}.`),
    ),
    ...(deployments.length > 0
      ? [
          list(
            deployments.map(({ environment, deployedAt, isRolledBack }) =>
              text(`${environment}: ${deployedAt}${isRolledBack ? ', rolled back' : ''}`),
            ),
          ),
        ]
      : []),
    ...(addedWorkItems.length > 0
      ? [heading(3, 'Work items'), list(addedWorkItems.map((item) => itemLine(item, format)))]
      : []),
    ...requestLine(summary.added.pullRequests).map(paragraph),
    ...(gone.length > 0 ? [heading(3, 'No longer included'), list(gone)] : []),
    ...dependencyCycles.map((cycle) =>
      paragraph(text(`These packages depend on each other, so their order is unknown: ${cycle.join(', ')}.`)),
    ),
    ...packages.flatMap((each) => packageNotes(each, format)),
    ...(packages.length === 0 ? [paragraph('No package changes.')] : []),
  ];
}

function itemLine(
  { key, url, totalCommits }: NotedItem,
  { text, link }: Format,
  packages: readonly string[] = [],
): string {
  const ofPackages = packages.length === 0 ? '' : ` of ${text(packages.join(', '))}`;
  const address = webAddress(url);
  return `${address === undefined ? text(key) : link(key, address)} (${counted(totalCommits, 'commit')}${ofPackages})`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function packageNotes(
  { packageName, direction, fromVersion, toVersion, added, removed, missingChangelog }: Package,
  format: Format,
): string[] {
  const { heading, paragraph, text } = format;
  const versions = {
    install: `${toVersion}, new`,
    remove: `${fromVersion}, removed`,
    upgrade: `${fromVersion} → ${toVersion}`,
    downgrade: `${fromVersion} → ${toVersion}, back`,
  }[direction];
  return [
    heading(3, text(`${packageName} ${versions}`)),
    ...(missingChangelog === null ? [] : [paragraph(text(`The changes are not known. ${missingChangelog.message}.`))]),
    ...commitList(added, format),
    ...(missingChangelog === null && added.totalCommits + removed.totalCommits === 0
      ? [paragraph(text('No commit changes it.'))]
      : []),
    ...(removed.totalCommits > 0 ? [paragraph(text('No longer included:')), ...commitList(removed, format)] : []),
  ];
}

function commitList({ commits, totalCommits }: NotedSide, { list, text, code }: Format): string[] {
  const lines = commits.map(
    ({ sha, message, authorName }) => `${code(sha.slice(0, SHA_LENGTH))} ${text(message)} (${text(authorName)})`,
  );
  const more = totalCommits - commits.length;
  return lines.length > 0 ? [list([...lines, ...(more > 0 ? [`and ${counted(more, 'more commit')}`] : [])])] : [];
}
