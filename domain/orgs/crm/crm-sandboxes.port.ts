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
