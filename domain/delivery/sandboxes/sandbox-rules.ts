import type { DefinedSandbox, SandboxCopy } from '../../orgs/crm/crm-sandboxes.port.ts';
import { licenceTypeOf } from '../../orgs/crm/sandbox-rules.ts';

export const CREATE = 'request-sandbox-create';
export const REFRESH = 'request-sandbox-refresh';
export const ACTIVATE = 'request-sandbox-activate';
export const DELETE = 'request-sandbox-delete';
/** What the service does to sandboxes. */
export type SandboxAct = typeof CREATE | typeof REFRESH | typeof ACTIVATE | typeof DELETE;

const TYPES: ReadonlySet<string> = new Set([CREATE, REFRESH, ACTIVATE, DELETE]);
export const isSandboxType = (id: string): boolean => TYPES.has(id);

type Payload = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

const LICENCES = ['DEVELOPER', 'DEVELOPER_PRO', 'PARTIAL', 'FULL'];

/** Days from the creation or refresh of a sandbox in which the platform neither refreshes nor deletes it. */
const INTERVAL_DAYS: Readonly<Record<string, number>> = { DEVELOPER: 1, DEVELOPER_PRO: 1, PARTIAL: 5, FULL: 29 };
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Why no sandbox can be made as a payload says; null: it can, as far as that can be told without the org. */
export function whyNotDefined({ licenseType, sourceSandboxName, templateId, activationGroup }: Payload): string | null {
  if (textOf(sourceSandboxName) !== undefined) return null;
  const licence = licenceTypeOf(textOf(licenseType));
  if (licence === null) return 'No type of licence is named: give licenseType, or sourceSandboxName to clone a sandbox';
  if (!LICENCES.includes(licence)) return `${licence} is no type of licence: ${LICENCES.join(', ')}`;
  if (licence === 'PARTIAL' && textOf(templateId) === undefined)
    return 'A PARTIAL sandbox needs a template: give templateId';
  return whyNoGroup(licence, textOf(activationGroup));
}

/** The platform demands a group since Spring '25, of the Developer types alone, and not of clones. */
export const whyNoGroup = (licence: string | undefined, group: string | undefined): string | null =>
  licence?.startsWith('DEVELOPER') && group === undefined
    ? `A ${licence} sandbox needs a group of those who may sign in to it at once: give activationGroup, the id or DeveloperName of a public group`
    : null;

const isUnderWay = ({ stage }: SandboxCopy): boolean => stage === 'copying' || stage === 'pending_activation';

/** Why a sandbox can be neither refreshed nor deleted now; null: it can, as far as its copies show. */
export function whyNotNow({ name, licenseType }: DefinedSandbox, copies: readonly SandboxCopy[], now: Date) {
  const last = copies.find(({ stage }) => stage !== 'void');
  if (!last) return null;
  if (isUnderWay(last))
    return `Sandbox ${name} is being copied since ${last.createdAt} (${last.status}): wait until that has ended`;
  const days = INTERVAL_DAYS[licenseType ?? ''] ?? 0;
  const due = new Date(Date.parse(last.createdAt) + days * DAY_MS);
  return due > now
    ? `The platform refreshes and deletes a ${licenseType} sandbox only ${days === 1 ? 'a day' : `${days} days`} after it was last copied: ${name} from ${due.toISOString()}`
    : null;
}

/** Minutes that copies took, by the median; undefined without any. */
export function usualMinutes(copies: readonly SandboxCopy[]): number | undefined {
  const minutes = copies
    .flatMap(({ createdAt, endedAt }) =>
      endedAt === null ? [] : [(Date.parse(endedAt) - Date.parse(createdAt)) / MINUTE_MS],
    )
    .filter((each) => each > 0)
    .toSorted((left, right) => left - right);
  const median = minutes[Math.floor(minutes.length / 2)];
  return median === undefined ? undefined : Math.max(1, Math.round(median));
}

/** `2 h 5 min` */
export const duration = (minutes: number): string =>
  minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;

/** What people read of a copy under way. @param usual minutes that others took. */
export function copyText({ status, createdAt }: SandboxCopy, usual: number | undefined, now: Date): string {
  if (usual === undefined) return status;
  const passed = Math.max(0, Math.round((now.getTime() - Date.parse(createdAt)) / MINUTE_MS));
  return passed < usual
    ? `${status}, about ${duration(usual - passed)} left`
    : `${status} for ${duration(passed)}; others took ${duration(usual)}`;
}

const bounded = (least: number, value: number, most: number): number => Math.min(most, Math.max(least, value));

/** A copy that is so far says by that how long it will take; earlier, it only begins. */
const TELLING_PERCENT = 5;

/** Seconds that are left of a copy, by its progress or by what others took; undefined: nothing says so. */
function secondsLeft(progress: number | null, usual: number | undefined, passed: number): number | undefined {
  if (progress !== null && progress >= TELLING_PERCENT && progress < 100) return (passed * (100 - progress)) / progress;
  const left = usual === undefined ? 0 : usual * 60 - passed;
  return left > 0 ? left : undefined;
}

/**
 * Seconds until a copy is looked at again: an eighth of what is left of it, and at most half an hour. Where that is not known,
 * and towards an end that does not come, the longer it takes the less often, which keeps the history of a week short.
 * @param usual minutes that others took.
 */
export function lookAgainIn({ createdAt, progress }: SandboxCopy, usual: number | undefined, now: Date): number {
  const passed = Math.max(0, (now.getTime() - Date.parse(createdAt)) / 1_000);
  const left = secondsLeft(progress, usual, passed);
  return left === undefined ? bounded(30, passed / 20, 600) : bounded(bounded(30, passed / 120, 300), left / 8, 1_800);
}
