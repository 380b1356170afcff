import type { CrmSandbox, SandboxCopy } from './crm-sandboxes.port.ts';

/** A row of `SandboxProcess`: one per creation or refresh of a sandbox. */
export interface SandboxProcess {
  Id: string;
  Status: string;
  SandboxName: string;
  SandboxInfoId: string | null;
  LicenseType: string | null;
  CreatedDate: string;
  CopyProgress: number | null;
  SandboxOrganization: string | null;
  Description: string | null;
  EndDate: string | null;
}

/** Deleted, failed, or being deleted. */
const isVoid = (status: string): boolean => status === 'D' || status === 'E' || status.startsWith('Del');

/** The sandboxes that the processes show, by name: of each the newest process that is not void. */
export function currentSandboxes(processes: readonly SandboxProcess[]): CrmSandbox[] {
  const newest = new Map<string, SandboxProcess>();
  for (const process of processes) {
    if (isVoid(process.Status)) continue;
    const name = process.SandboxName.toLowerCase();
    const known = newest.get(name);
    if (!known || Date.parse(process.CreatedDate) > Date.parse(known.CreatedDate)) newest.set(name, process);
  }
  return [...newest.values()].map(sandboxOf).toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

const sandboxOf = (process: SandboxProcess): CrmSandbox => {
  const isReady = process.Status === 'Completed';
  return {
    name: process.SandboxName,
    state: isReady ? 'ready' : 'copying',
    status: process.Status,
    copyProgress: isReady ? 100 : Math.min(100, Math.max(0, process.CopyProgress ?? 0)),
    orgId: process.SandboxOrganization,
    sandboxInfoId: process.SandboxInfoId,
    licenseType: process.LicenseType,
    description: process.Description,
    createdAt: new Date(process.CreatedDate).toISOString(),
    endedAt: process.EndDate === null ? null : new Date(process.EndDate).toISOString(),
  };
};

/** What a row shows of the copying. */
export function copyOf(process: SandboxProcess): SandboxCopy {
  const { Status: status } = process;
  const { name, orgId, sandboxInfoId, createdAt, endedAt, copyProgress } = sandboxOf(process);
  return {
    id: process.Id,
    name,
    sandboxInfoId,
    licenseType: licenceTypeOf(process.LicenseType),
    stage: isVoid(status)
      ? 'void'
      : status === 'Completed'
        ? 'completed'
        : status === 'Pending Activation'
          ? 'pending_activation'
          : 'copying',
    status,
    progress: process.CopyProgress === null ? null : copyProgress,
    orgId,
    createdAt,
    endedAt,
  };
}

/** The platform writes `DEVELOPER PRO`, its tools `Developer_Pro`; unknown ones stay as they are, in capitals. */
export function licenceTypeOf<Text extends string | null | undefined>(text: Text): Text extends string ? string : null;
export function licenceTypeOf(text: string | null | undefined): string | null {
  return text
    ? text
        .trim()
        .toUpperCase()
        .replaceAll(/[\s_-]+/g, '_')
    : null;
}
