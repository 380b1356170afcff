import type { CrmAnswer } from './crm-platform.port.ts';

/** A sandbox as its newest valid process shows it. */
export interface CrmSandbox {
  name: string;
  /** `ready`: copied and activated; `copying`: under way, and cannot be signed in to. */
  state: 'ready' | 'copying';
  /** The platform's word: `Completed`, `Processing`, `Pending Activation`. */
  status: string;
  /** Per cent, 0 to 100. */
  copyProgress: number;
  /** 15 characters (see `isSameOrgId`); null before the copy has an org. */
  orgId: string | null;
  sandboxInfoId: string | null;
  /** `DEVELOPER`, `DEVELOPER_PRO`, `PARTIAL`, `FULL`. */
  licenseType: string | null;
  description: string | null;
  /** When this creation or refresh was asked for; ISO 8601. */
  createdAt: string;
  endedAt: string | null;
}

/** Definition of a sandbox, which stays the same over its refreshes. */
export interface CrmSandboxInfo {
  id: string;
  name: string;
  licenseType: string | null;
  description: string | null;
}

/** How a sandbox is made; members that are absent are left to the platform. */
export interface SandboxDefinition {
  /** `DEVELOPER`, `DEVELOPER_PRO`, `PARTIAL`, `FULL`; a clone has that of its source. */
  licenseType?: string | undefined;
  /** Id of the `SandboxInfo` of the sandbox that is cloned. */
  sourceId?: string | undefined;
  description?: string | undefined;
  /** Which objects are copied; needed by `PARTIAL`. */
  templateId?: string | undefined;
  /** The group whose members can use the sandbox at once; all others arrive frozen. */
  activationGroupId?: string | undefined;
  /** A class that runs in the sandbox after its copying. */
  apexClassId?: string | undefined;
  /** False: it waits in `Pending Activation` until somebody activates or discards it. */
  isAutoActivated?: boolean | undefined;
  features?: readonly string[] | undefined;
}

/** A sandbox as production has it defined. */
export interface DefinedSandbox extends SandboxDefinition {
  id: string;
  name: string;
}

/** One copying of a sandbox: its creation or a refresh. Its row stays when there is another. */
export interface SandboxCopy {
  id: string;
  name: string;
  sandboxInfoId: string | null;
  licenseType: string | null;
  /** `void`: failed, deleted, or being deleted. */
  stage: 'copying' | 'pending_activation' | 'completed' | 'void';
  /** The platform's word: `Processing`. */
  status: string;
  /** Per cent; null where the platform does not say it, as for copies by template. */
  progress: number | null;
  /** 15 characters; null before the copy has an org. */
  orgId: string | null;
  /** ISO 8601. */
  createdAt: string;
  endedAt: string | null;
}

/** Which copies are meant: one, those of a sandbox, or those that have ended of a type of licence. */
export type CopiesOf = { id: string } | { name: string } | { licenseType: string };

/** Copies of a license type that are read at most, the newest ones. */
export const COPIES_MAX = 200;

/**
 * Changes of the sandboxes of a production org. A call that breaks off (`unreachable`, `timeout`) may have been done: the caller
 * looks at copies and definitions before it tries again.
 */
export interface SandboxChanges {
  /** The newest first; at most `COPIES_MAX`. */
  sandboxCopies: (of: CopiesOf) => Promise<CrmAnswer<SandboxCopy[]>>;
  /** The sandbox of that name without case; null when there is none. */
  sandboxDefinition: (name: string) => Promise<CrmAnswer<DefinedSandbox | null>>;
  /** Answers the id of its `SandboxInfo`. */
  createSandbox: (order: SandboxDefinition & { name: string }) => Promise<CrmAnswer<{ sandboxInfoId: string }>>;
  /** Copies it anew, with its definition as it is but for what is given. */
  refreshSandbox: (sandboxInfoId: string, changes: SandboxDefinition) => Promise<CrmAnswer<null>>;
  deleteSandbox: (sandboxInfoId: string) => Promise<CrmAnswer<null>>;
  /** What becomes of a copy that is pending activation. */
  decideSandbox: (copyId: string, decision: 'ACTIVATE' | 'DISCARD') => Promise<CrmAnswer<null>>;
}

/** What production gives for signing in to one of its sandboxes. */
export interface SandboxCode {
  username: string;
  /** Works once. */
  code: string;
  /** Origins, checked against the address policy. */
  instanceUrl: string;
  loginUrl: string;
}

/** A row of a dev hub about a scratch org. */
export interface ScratchOrg {
  id: string;
  username: string;
  /** 15 characters. */
  orgId: string | null;
  status: 'New' | 'Active' | 'Deleted' | 'Error' | (string & {});
  /** Origin; null while the org is being made. */
  loginUrl: string | null;
  instanceName: string | null;
  /** A day, `2026-12-01`. */
  expirationDate: string | null;
  createdAt: string;
  /**
   * The stored auth URL, not parsed. `field`: the custom field that holds it (`CRM_SCRATCH_AUTH_FIELD`); `no_field`: the
   * dev hub does not have that field, or does not show it to this user.
   */
  auth: { state: 'present'; authUrl: string; field: string } | { state: 'empty' | 'no_field'; field: string };
}
