import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { newId, type ScratchRow, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError } from './replies.ts';
import type { SoqlRow, SoqlTable } from './soql.ts';

/** What the dev hub did with a scratch org. */
export interface ScratchAct {
  act: 'create' | 'delete';
  signupId: string;
  /** What was sent. */
  fields: Record<string, unknown>;
}

/** A scratch org that somebody asks for: what its row has beyond that of the others. */
interface SignupState {
  fields: Record<string, unknown>;
  /** So many more reads show it as it is being made. */
  pollsLeft: number;
  errorCode: string | null;
  /** The org, once it is made. */
  made: SimulatedOrg | undefined;
  authCode: string | null;
}

const FIELDS =
  'Id ScratchOrg SignupUsername LoginUrl SignupInstance Status ErrorCode ExpirationDate CreatedDate CreatedById Description AuthCode OrgName Pooltag__c Allocation_status__c'.split(
    ' ',
  );
/** Fields of ScratchOrgInfo that may be given (Object Reference; forcedotcom/sfdx-core `scratchOrgInfoGenerator.ts`). */
const GIVEN =
  'AdminEmail ConnectedAppCallbackUrl ConnectedAppConsumerKey Country Description DurationDays Edition Features HasSampleData Language Namespace OrgName Release Snapshot SourceOrg Template Username'.split(
    ' ',
  );
const DAY_MS = 86_400_000;
const time = (date: Date): string => date.toISOString().replace('Z', '+0000');
const isSame = (id: string, other: string): boolean => id.slice(0, 15) === other.slice(0, 15);

/**
 * The scratch orgs of a dev hub: `ScratchOrgInfo` is what is asked for, `ActiveScratchOrg` an org that lives (Object Reference, both
 * pages). Description is a text area on which no condition is allowed. Failed signups count against both limits
 * (forcedotcom/cli#202); the text of their refusal is that of salesforce.stackexchange.com/q/292527.
 */
export class OrgScratchOrgs {
  readonly #org: SimulatedOrg;
  readonly #signups = new Map<string, SignupState>();
  /** Makes the org of a signup. */
  makeOrg: (name: string, durationDays: number) => Promise<SimulatedOrg> = () =>
    Promise.reject(new Error('the org makes no scratch orgs'));
  readonly ledger: ScratchAct[] = [];
  /** Reads that show a signup as it is being made. */
  polls = 2;
  /** The next signups end with these codes: `S-9999`. */
  readonly failing: string[] = [];
  /** Told of each org that was made, before anybody can sign in to it. */
  onMade: (made: SimulatedOrg) => void = () => undefined;

  constructor(org: SimulatedOrg) {
    this.#org = org;
  }

  /** The next read of each signup shows it as it ends. */
  finishAll(): void {
    for (const state of this.#signups.values()) state.pollsLeft = 0;
  }

  tables(): Record<string, SoqlTable> {
    if (!this.#org.isDevHub) return {};
    const { authField } = this.#org;
    return {
      ScratchOrgInfo: {
        rows: () => this.#org.scratchOrgs.map((row) => this.#infoOf(row)),
        fields: [...FIELDS, ...(authField ? [authField] : [])],
        unfiltered: ['Description', 'AuthCode'],
      },
      ActiveScratchOrg: {
        rows: () =>
          this.#org.scratchOrgs
            .filter(({ status }) => status === 'Active')
            .map(({ id, orgId, username }) => ({
              Id: activeId(id),
              ScratchOrgInfoId: longId(id),
              ScratchOrg: orgId,
              SignupUsername: username,
            })),
        fields: ['Id', 'ScratchOrgInfoId', 'ScratchOrg', 'SignupUsername'],
      },
    };
  }

  /** Records below `/sobjects`; undefined for other paths. */
  request(method: string, resource: string, body: string): Reply | undefined {
    if (!this.#org.isDevHub) return undefined;
    if (resource === '/sobjects/ScratchOrgInfo' && method === 'POST')
      return this.#create(JSON.parse(body) as Record<string, unknown>);
    const [, id] = /^\/sobjects\/ActiveScratchOrg\/(\w+)$/.exec(resource) ?? [];
    return id !== undefined && method === 'DELETE' ? this.#delete(id) : undefined;
  }

  #create(fields: Record<string, unknown>): Reply {
    const unknown = Object.keys(fields).find((field) => !GIVEN.includes(field));
    if (unknown !== undefined)
      return restError(400, 'INVALID_FIELD', `No such column '${unknown}' on sobject of type ScratchOrgInfo`);
    if (!fields.ConnectedAppConsumerKey || !fields.ConnectedAppCallbackUrl)
      return restError(400, 'REQUIRED_FIELD_MISSING', 'Required fields are missing: [ConnectedAppConsumerKey]');
    for (const name of ['Daily', 'Active']) {
      const limit = this.#org.limits[`${name}ScratchOrgs`];
      if (limit && limit.used >= limit.max)
        return restError(
          400,
          'LIMIT_EXCEEDED',
          `The signup request failed because this organization has reached its ${name.toLowerCase()} scratch org signup limit`,
        );
    }
    for (const name of ['Daily', 'Active']) {
      const limit = this.#org.limits[`${name}ScratchOrgs`];
      if (limit) limit.used++;
    }
    const id = newId('2SR');
    const durationDays = Number(fields.DurationDays ?? 7);
    const state: SignupState = {
      fields,
      pollsLeft: this.polls,
      errorCode: this.failing.shift() ?? null,
      made: undefined,
      authCode: null,
    };
    this.#signups.set(id, state);
    this.#org.scratchOrgs.push({
      id,
      orgId: '',
      username: '',
      loginUrl: '',
      status: 'New',
      expiresAt: new Date(Date.now() + durationDays * DAY_MS),
      createdAt: new Date(),
      authUrl: null,
    });
    this.ledger.push({ act: 'create', signupId: longId(id), fields });
    if (state.errorCode === null) void this.#make(state, `${this.#org.name}-made-${id.slice(-6)}`, durationDays);
    return json(201, { id: longId(id), success: true, errors: [] });
  }

  async #make(state: SignupState, name: string, durationDays: number): Promise<void> {
    const made = await this.makeOrg(name, durationDays);
    this.onMade(made);
    state.made = made;
  }

  #delete(id: string): Reply {
    const row = this.#org.scratchOrgs.find((each) => each.status === 'Active' && isSame(activeId(each.id), id));
    if (!row) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
    row.status = 'Deleted';
    const limit = this.#org.limits.ActiveScratchOrgs;
    if (limit) limit.used--;
    this.#signups.get(row.id)?.made?.revokeApprovals();
    this.ledger.push({ act: 'delete', signupId: longId(row.id), fields: {} });
    return { status: 204, contentType: 'application/json', body: '' };
  }

  /** A read of a row takes its signup on. */
  #advance(row: ScratchRow, state: SignupState): void {
    if (row.status !== 'New' && row.status !== 'Creating') return;
    if (state.pollsLeft-- > 0 || (state.errorCode === null && !state.made)) {
      row.status = 'Creating';
      return;
    }
    if (!state.made) {
      row.status = 'Error';
      return;
    }
    const { made, fields } = state;
    Object.assign(row, {
      status: 'Active',
      orgId: made.orgId.slice(0, 15),
      username: made.username,
      loginUrl: made.url,
    });
    state.authCode = made.newCode(String(fields.ConnectedAppConsumerKey), String(fields.ConnectedAppCallbackUrl));
  }

  #infoOf(row: ScratchRow): SoqlRow {
    const state = this.#signups.get(row.id);
    if (state) this.#advance(row, state);
    const { id, orgId, username, loginUrl, status, expiresAt, createdAt, authUrl } = row;
    const isMade = state === undefined || status === 'Active' || status === 'Deleted';
    const { OrgName: orgName = 'pool', Description: description = null } = state?.fields ?? {};
    return {
      Id: longId(id),
      ScratchOrg: isMade ? orgId : null,
      SignupUsername: isMade ? username : null,
      LoginUrl: isMade ? loginUrl : null,
      // Those of newer instances end in `s`; they are signed in to at LoginUrl (sfdx-core `scratchOrgInfoApi.ts`).
      SignupInstance: state ? (isMade ? 'SIM1S' : null) : 'SIM1',
      Status: status,
      ErrorCode: status === 'Error' ? (state?.errorCode ?? null) : null,
      ExpirationDate: expiresAt.toISOString().slice(0, 10),
      CreatedDate: time(createdAt),
      CreatedById: this.#org.userId,
      Description: description as string | null,
      AuthCode: state?.authCode ?? null,
      OrgName: orgName as string,
      Pooltag__c: state ? null : 'ci',
      Allocation_status__c: state ? null : 'Available',
      ...(this.#org.authField !== undefined && { [this.#org.authField]: authUrl }),
    };
  }
}

const activeId = (signupId: string): string => longId(signupId.replace(/^2SR/, '2RB'));
