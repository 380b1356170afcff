import { voterOf } from '../../delivery/approvals/approval-steps.queries.ts';
import { listApprovals } from '../../delivery/approvals/approvals.queries.ts';
import type { DeploymentLogCache } from '../../delivery/deployments/deployment-log-cache.ts';
import type { CommitGraphCache } from '../../code/git/graph/commit-graph-cache.ts';
import { findProject, listProjects, type ProjectFacts } from '../../projects/projects/projects.queries.ts';
import { workItemPlaces } from '../../delivery/releases/places/work-item-places.ts';
import { activeAssignmentsOf, type AssignmentRow } from '../../review/review-assignments/review-assignments.queries.ts';
import { extendAssignment } from '../../review/review-assignments/review-leases.mutations.ts';
import { LEASE_HOURS } from '../../review/review-pools/review-pools.mutations.ts';
import { isoOf } from '../../kernel/text/date-time-rules.ts';
import { DomainError } from '../../kernel/shared/errors.ts';
import type { Tx, UnitOfWork } from '../../unit-of-work.ts';
import { approvalList } from './approval-message-rules.ts';
import { type ChatCommand, HELP, parseCommand } from './command-rules.ts';
import {
  type ChatBlock,
  type ChatMessage,
  context,
  escaped,
  link,
  message,
  section,
  sentence,
} from './message-rules.ts';
import { type ReaderLink, readerLink } from './reader-link-rules.ts';

export interface CommandParts {
  commitGraphs: CommitGraphCache;
  deploymentLogs: DeploymentLogCache;
  publicUrl: string;
}

const APPROVALS_SHOWN = 10;
const ENVIRONMENTS_SHOWN = 20;
/** Repositories in which a work item is looked for when none is named. */
const PROJECTS_MAX = 20;

/** Answers what somebody asked by a command. @param tx in the name of that person. */
export function answerCommand(parts: CommandParts, tx: UnitOfWork, text: string): Promise<ChatMessage> {
  const command = parseCommand(text);
  switch (command.name) {
    case 'help':
      return Promise.resolve(HELP);
    case 'unknown':
      return Promise.resolve(sentence(command.problem));
    case 'approvals':
      return tx(ownApprovals);
    case 'extend':
      return tx((work) => extendOwn(parts, work, command));
    case 'where':
      return tx((work) => whereIs(parts, work, command));
  }
}

async function ownApprovals(tx: Tx): Promise<ChatMessage> {
  const decidableBy = await voterOf(tx, tx.actor);
  const page = { limit: APPROVALS_SHOWN, offset: 0 };
  const { items, total } = await listApprovals(tx, { status: 'requested', decidableBy }, page);
  return approvalList(items, total);
}

async function extendOwn(
  { publicUrl }: CommandParts,
  tx: Tx,
  { hours = LEASE_HOURS, of }: Extract<ChatCommand, { name: 'extend' }>,
): Promise<ChatMessage> {
  if (tx.actor.role === 'application') throw new DomainError('forbidden', 'Only owners and members have environments');
  const own = await activeAssignmentsOf(tx, tx.actor.email, ENVIRONMENTS_SHOWN);
  const wanted = of?.toLowerCase();
  const matching = own.filter(
    ({ id, orgUsername, targetName, assignmentKey }) =>
      wanted === undefined ||
      [id, orgUsername, targetName, assignmentKey].some((each) => each?.toLowerCase() === wanted),
  );
  const [assignment] = matching;
  if (!assignment)
    return sentence(own.length === 0 ? 'You have no review environment.' : `You have no review environment ${of}.`);
  if (matching.length > 1) {
    const lines = matching.map((each) => `• ${escaped(labelOf(each))}, until ${untilOf(each)}`);
    const which = 'You have several review environments; name one: `/quayside env extend 24 ORG`';
    return message(
      'You have several review environments',
      [section([which, ...lines].join('\n'))],
      [],
      'There are more.',
    );
  }
  const extended = await extendAssignment(tx, assignment.id, hours);
  const url = `${publicUrl}/review-env/${extended.id}`;
  const label = labelOf(extended);
  return message(
    `${escaped(label)} is yours until ${untilOf(extended)}`,
    [section(`*${escaped(label)}* is yours until ${untilOf(extended)} · ${link(url, 'Details')}`)],
    [],
    '',
  );
}

const labelOf = ({ orgUsername, targetName, repositoryIdentifier }: AssignmentRow): string =>
  `${orgUsername ?? targetName} (${repositoryIdentifier})`;

const untilOf = ({ expiresAt }: AssignmentRow): string =>
  expiresAt === null ? 'it is released' : `${isoOf(expiresAt).slice(0, 16).replace('T', ' ')} UTC`;

const PLACES: ReaderLink = {
  call: '/api/releases/work-items/{key}?repositoryIdentifier={repositoryIdentifier}',
  group: 'Releases',
  operationId: 'locateWorkItem',
};

async function whereIs(
  { commitGraphs, deploymentLogs, publicUrl }: CommandParts,
  tx: Tx,
  { key, repositoryIdentifier }: Extract<ChatCommand, { name: 'where' }>,
): Promise<ChatMessage> {
  const { items: projects, total } = await projectsFor(tx, repositoryIdentifier);
  if (projects.length === 0)
    return sentence(`No repository ${repositoryIdentifier ?? ''} is registered`.replace('  ', ' '));
  const blocks: ChatBlock[] = [];
  for (const project of projects) {
    const history = await commitGraphs(tx, project.id);
    const places = await workItemPlaces(tx, history, await deploymentLogs(tx, project.id), project, key);
    if (places.totalCommits === 0) continue;
    const all = readerLink([PLACES], { key, repositoryIdentifier: project.identifier }, publicUrl);
    blocks.push(section(`*${escaped(project.identifier)}* · ${places.totalCommits} commits · ${all}`));
    for (const { domain, candidates, environments } of places.domains)
      blocks.push(domainBlock(domain, candidates, environments));
  }
  const shownKey = escaped(key);
  const searched =
    projects.length < total
      ? ` in the first ${projects.length} of ${total} repositories; name another: \`/quayside where KEY owner/repo\``
      : '';
  if (blocks.length === 0)
    return message(
      `No commit mentions ${shownKey}${searched}`,
      [section(`No commit mentions *${shownKey}*${searched}.`)],
      [],
      '',
    );
  return message(
    `Where ${shownKey} is`,
    [section(`Where *${shownKey}* is${searched}`), ...blocks],
    [],
    'There is more than fits here: follow the links.',
  );
}

interface Share {
  presence: string;
  present: number;
  total: number;
}
const SHARE_WORDS: Readonly<Record<string, string>> = { all: 'all of it', none: 'nothing', unknown: 'unknown' };
const shareText = ({ presence, present, total }: Share): string =>
  SHARE_WORDS[presence] ?? `${present} of ${total} changes`;
const CANDIDATES_SHOWN = 5;

function domainBlock(
  domain: string,
  candidates: readonly (Share & { releaseName: string; status: string })[],
  environments: readonly (Share & { name: string; releaseName: string | null })[],
): ChatBlock {
  const having = candidates.filter(({ presence }) => presence !== 'none');
  const lines = [
    `_${escaped(domain)}_`,
    ...having
      .slice(0, CANDIDATES_SHOWN)
      .map((each) => `• candidate ${escaped(each.releaseName)} (${escaped(each.status)}): ${shareText(each)}`),
    ...(having.length > CANDIDATES_SHOWN ? [`• and ${having.length - CANDIDATES_SHOWN} more candidates`] : []),
    ...environments.map(
      (each) =>
        `• ${escaped(each.name)}: ${shareText(each)}${each.releaseName === null ? '' : `, by ${escaped(each.releaseName)}`}`,
    ),
  ];
  return lines.length === 1 ? context(`${lines[0]}: in no candidate`) : section(lines.join('\n'));
}

/** Where to look for a work item, and how many repositories there are. */
async function projectsFor(
  tx: Tx,
  identifier: string | undefined,
): Promise<{ items: readonly ProjectFacts[]; total: number }> {
  if (identifier === undefined) return listProjects(tx, { limit: PROJECTS_MAX, offset: 0 });
  const project = await findProject(tx, identifier);
  return project ? { items: [project], total: 1 } : { items: [], total: 0 };
}
