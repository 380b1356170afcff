import { longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { newId, type SandboxRow, type SimulatedOrg } from './org.ts';
import { json, type Reply, restError } from './replies.ts';
import type { SoqlRow, SoqlTable } from './soql.ts';

/** What production did with a sandbox. */
export interface SandboxAct {
  act: 'create' | 'refresh' | 'delete' | 'ACTIVATE' | 'DISCARD';
  name: string;
  /** What was sent. */
  fields: Record<string, unknown>;
}

type Info = Record<string, string | number | boolean | null>;

const NAME = /^[A-Za-z0-9]{1,10}$/;
const TYPES = ['DEVELOPER', 'DEVELOPER PRO', 'PARTIAL', 'FULL'];
/** Days that a sandbox is left alone after its creation or refresh (merfantz.com). */
const INTERVAL_DAYS: Record<string, number> = { DEVELOPER: 1, 'DEVELOPER PRO': 1, PARTIAL: 5, FULL: 29 };
const READ_ONLY = ['IsDeleted', 'CreatedDate', 'CreatedById', 'LastModifiedDate', 'LastModifiedById'];
const INFO_FIELDS =
  'Id SandboxName LicenseType Description SourceId TemplateId HistoryDays CopyChatter AutoActivate ApexClassId ActivationUserGroupId CreatedDate'.split(
    ' ',
  );
const PROCESS_FIELDS =
  'Id Status SandboxName SandboxInfoId LicenseType CreatedDate CopyProgress SandboxOrganization SourceId Description EndDate'.split(
    ' ',
  );
const DAY_MS = 86_400_000;

/** As the platform writes times. */
const time = (date: Date): string => date.toISOString().replace('Z', '+0000');
const isVoid = ({ status }: SandboxRow): boolean => /^(D|E|Del.*)$/.test(status);
const isSame = (id: string, other: unknown): boolean =>
  typeof other === 'string' && id.slice(0, 15) === other.slice(0, 15);
const table = (rows: () => SoqlRow[], fields: readonly string[]): SoqlTable => ({ rows, fields });

/**
 * The sandboxes of a production org: objects SandboxInfo and SandboxProcess of the Tooling interface (Tooling API reference;
 * forcedotcom/sfdx-core `org.ts`). Copies advance only as tests have them do. Codes of refusals that no page lists are ours:
 * licences, intervals, a group that is missing.
 */
export class OrgSandboxes {
  readonly #org: SimulatedOrg;
  readonly #infos = new Map<string, Info>();
  /** The org of a sandbox of that name: made, or made anew. */
  makeOrg: (name: string) => Promise<SimulatedOrg> = () => Promise.reject(new Error('the org has no sandboxes'));
  readonly ledger: SandboxAct[] = [];
  /** Licences left by type; absent: enough. */
  readonly licences = new Map<string, number>();
  /** False: the user may not manage sandboxes. */
  isManager = true;
  /** Ids of public groups by their `DeveloperName`. */
  readonly groups = new Map<string, string>();
  /** Ids of classes by their name. */
  readonly classes = new Map<string, string>();

  constructor(org: SimulatedOrg) {
    this.#org = org;
  }

  addGroup(developerName: string): string {
    const id = longId(newId('00G'));
    this.groups.set(developerName, id);
    return id;
  }

  addClass(name: string): string {
    const id = longId(newId('01p'));
    this.classes.set(name, id);
    return id;
  }

  /** What is sent with a sandbox from now on. */
  define(name: string, fields: Info): void {
    Object.assign(this.#infoOf(this.copy(name)), fields);
  }

  /** The newest copy of a sandbox. */
  copy(name: string): SandboxRow {
    const found = this.#org.sandboxes.findLast((row) => row.name.toLowerCase() === name.toLowerCase());
    if (!found) throw new Error(`the simulated org has no sandbox ${name}`);
    return found;
  }

  /** A copy goes on. @param percent null: the platform does not say it, as for copies by template. */
  progress(name: string, percent: number | null, status = 'Processing'): void {
    Object.assign(this.copy(name), { status, copyProgress: percent });
  }

  /** A copy breaks off. */
  fail(name: string): void {
    Object.assign(this.copy(name), { status: 'E', endedAt: new Date() });
  }

  /** A copy is complete; one that is not activated by itself waits for that, unless it is being activated. */
  async finish(name: string): Promise<void> {
    const copy = this.copy(name);
    if (this.#infoOf(copy).AutoActivate === false && copy.status !== 'Activating') {
      Object.assign(copy, { status: 'Pending Activation', copyProgress: 100 });
      return;
    }
    const { orgId } = await this.makeOrg(copy.name);
    Object.assign(copy, { status: 'Completed', copyProgress: 100, orgId: orgId.slice(0, 15), endedAt: new Date() });
  }

  /** All copies that were begun here go on by a quarter: for simulators that no test moves. */
  async advance(): Promise<void> {
    const begun = new Set(this.ledger.map(({ name }) => name.toLowerCase()));
    for (const { name, status, copyProgress, endedAt } of this.#org.sandboxes) {
      if (endedAt !== null || !begun.has(name.toLowerCase())) continue;
      if (!['Pending', 'Processing', 'Activating'].includes(status)) continue;
      const percent = (copyProgress ?? 0) + 25;
      if (percent >= 100) await this.finish(name);
      else this.progress(name, percent, status === 'Pending' ? 'Processing' : status);
    }
  }

  tables({ isTooling }: { isTooling: boolean }): Record<string, SoqlTable> {
    if (!isTooling)
      return {
        Group: named(this.groups, 'DeveloperName'),
        ApexClass: named(this.classes, 'Name'),
      };
    if (this.#org.kind !== 'production' || !this.#org.hasSandboxes) return {};
    return {
      SandboxProcess: table(() => this.#org.sandboxes.map((row) => this.#processRow(row)), PROCESS_FIELDS),
      SandboxInfo: table(() => this.#openInfos(), INFO_FIELDS),
    };
  }

  /** Records below `/tooling/sobjects`; undefined for other paths. @param version of the interface: `66.0`. */
  request(method: string, resource: string, body: string, version: string): Reply | undefined {
    const [, type, id] = /^\/tooling\/sobjects\/(SandboxInfo|SandboxProcess)(?:\/(\w+))?$/.exec(resource) ?? [];
    if (type === undefined) return undefined;
    if (!this.isManager && method !== 'GET')
      return restError(400, 'INSUFFICIENT_ACCESS', 'insufficient access rights on entity: SandboxInfo');
    const fields = (body === '' ? {} : JSON.parse(body)) as Info;
    if (type === 'SandboxProcess') return this.#decide(id ?? '', fields);
    if (id === undefined) return this.#create(fields, version);
    const info = this.#openInfos().find(({ Id }) => isSame(String(Id), id));
    if (!info) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
    if (method === 'PATCH') return this.#refresh(info, fields, version);
    if (method === 'DELETE') return this.#delete(info);
    return json(200, { attributes: { type: 'SandboxInfo', url: resource }, ...info });
  }

  /** A code for signing in to a sandbox. @param orgs all orgs. */
  auth(orgs: Iterable<SimulatedOrg>, body: string): Reply {
    const { clientId, sandboxName, callbackUrl } = JSON.parse(body) as Record<string, unknown>;
    if (
      typeof clientId !== 'string' ||
      typeof callbackUrl !== 'string' ||
      typeof sandboxName !== 'string' ||
      !NAME.test(sandboxName)
    )
      return restError(400, 'INVALID_INPUT', 'clientId, sandboxName and callbackUrl are required');
    const rows = this.#org.sandboxes.filter((row) => row.name.toLowerCase() === sandboxName.toLowerCase());
    const row = rows
      .filter((each) => !isVoid(each))
      .toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime())[0];
    if (!row) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
    if (!row.isOwn) return restError(400, 'INSUFFICIENT_ACCESS', 'insufficient access rights on this sandbox');
    const notReady = restError(400, 'INVALID_STATUS', 'Sandbox is not ready for authentication');
    if (row.status !== 'Completed' || row.isAuthDelayed === true) return notReady;
    for (const sandbox of orgs) {
      if (sandbox.orgId.slice(0, 15) !== row.orgId) continue;
      return json(200, {
        authUserName: sandbox.username,
        authCode: sandbox.newCode(clientId, callbackUrl),
        instanceUrl: sandbox.claimedUrl ?? sandbox.url,
        loginUrl: sandbox.url,
      });
    }
    return notReady;
  }

  /** The definition of a copy's sandbox; those that tests have listed are of the usual kind. */
  #infoOf({ infoId, name, createdAt }: SandboxRow): Info {
    const known = this.#infos.get(infoId);
    if (known) return known;
    const info: Info = {
      Id: infoId,
      SandboxName: name,
      LicenseType: 'DEVELOPER',
      Description: null,
      SourceId: null,
      TemplateId: null,
      HistoryDays: 0,
      CopyChatter: false,
      AutoActivate: true,
      ApexClassId: null,
      ActivationUserGroupId: null,
      CreatedDate: time(createdAt),
      IsDeleted: false,
    };
    this.#infos.set(infoId, info);
    return info;
  }

  #openInfos(): Info[] {
    const infos = new Set(this.#org.sandboxes.map((row) => this.#infoOf(row)));
    return [...infos].filter(({ IsDeleted }) => IsDeleted !== true);
  }

  #processRow(row: SandboxRow): SoqlRow {
    const { LicenseType = null, SourceId = null, Description = null } = this.#infoOf(row);
    return {
      Id: row.id,
      Status: row.status,
      SandboxName: row.name,
      SandboxInfoId: row.infoId,
      LicenseType,
      CreatedDate: time(row.createdAt),
      CopyProgress: row.copyProgress,
      SandboxOrganization: row.orgId,
      SourceId,
      Description,
      EndDate: row.endedAt && time(row.endedAt),
    };
  }

  /** What is wrong with a definition: as the platform reads the type of licence, or takes it from the source. */
  #checked(fields: Info, version: string): Info | Reply {
    const source = this.#openInfos().find(({ Id }) => isSame(String(Id), fields.SourceId));
    if (fields.SourceId != null && !source)
      return restError(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
    const given = source?.LicenseType ?? fields.LicenseType;
    const type = TYPES.find((each) => each === String(given).toUpperCase().replace('_', ' '));
    // DX@Scale/sfpowerkit issue 366.
    if (type === undefined)
      return restError(
        400,
        'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
        `License Type: bad value for restricted picklist field: ${String(given)}`,
      );
    if (type === 'PARTIAL' && fields.TemplateId == null && !source)
      return restError(400, 'REQUIRED_FIELD_MISSING', 'Required fields are missing: [TemplateId]');
    // Required since Spring '25 (help: data_sandbox_selective_access).
    if (type.startsWith('DEVELOPER') && Number(version) >= 60 && !source && fields.ActivationUserGroupId == null)
      return restError(400, 'REQUIRED_FIELD_MISSING', 'Required fields are missing: [ActivationUserGroupId]');
    return { ...fields, LicenseType: type };
  }

  #create(fields: Info, version: string): Reply {
    const name = String(fields.SandboxName);
    if (!NAME.test(name)) return restError(400, 'INVALID_INPUT', 'Sandbox Name: at most 10 letters and digits');
    const same = this.#openInfos().find(({ SandboxName }) => String(SandboxName).toLowerCase() === name.toLowerCase());
    // forcedotcom/cli issue 2627.
    if (same)
      return restError(
        400,
        'DUPLICATE_VALUE',
        `duplicate value found: SandboxName duplicates value on record with id: ${String(same.Id)}`,
      );
    const checked = this.#checked(fields, version);
    if ('status' in checked) return checked as Reply;
    const type = String(checked.LicenseType);
    const left = this.licences.get(type);
    if (left === 0) return restError(400, 'FIELD_INTEGRITY_EXCEPTION', `There are no available ${type} licenses.`);
    if (left !== undefined) this.licences.set(type, left - 1);
    const infoId = newId('0GQ');
    this.#begin(infoId, name);
    Object.assign(this.#infoOf(this.copy(name)), checked);
    this.ledger.push({ act: 'create', name, fields });
    return json(201, { id: infoId, success: true, errors: [] });
  }

  #begin(infoId: string, name: string): void {
    this.#org.sandboxes.push({
      id: newId('0GR'),
      infoId,
      name,
      status: 'Pending',
      copyProgress: 0,
      orgId: null,
      createdAt: new Date(),
      endedAt: null,
      isOwn: true,
    });
  }

  /** Why a sandbox is to be left alone now. */
  #busy(info: Info): Reply | undefined {
    const copies = this.#org.sandboxes.filter((row) => row.infoId === info.Id && !isVoid(row));
    const last = copies.at(-1);
    if (!last) return undefined;
    if (last.status !== 'Completed')
      return restError(400, 'FIELD_INTEGRITY_EXCEPTION', 'Another copy of this sandbox is in progress.');
    const dueAt = last.createdAt.getTime() + (INTERVAL_DAYS[String(info.LicenseType)] ?? 0) * DAY_MS;
    return dueAt > Date.now()
      ? restError(
          400,
          'FIELD_INTEGRITY_EXCEPTION',
          `You can refresh this sandbox from ${new Date(dueAt).toISOString()}.`,
        )
      : undefined;
  }

  #refresh(info: Info, fields: Info, version: string): Reply {
    const readOnly = READ_ONLY.find((field) => field in fields);
    if (readOnly !== undefined)
      return restError(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', `Unable to create/update fields: ${readOnly}`);
    const checked = this.#checked(fields, version);
    if ('status' in checked) return checked as Reply;
    const busy = this.#busy(info);
    if (busy) return busy;
    Object.assign(info, checked);
    this.#begin(String(info.Id), String(info.SandboxName));
    this.ledger.push({ act: 'refresh', name: String(info.SandboxName), fields });
    return NOTHING;
  }

  #delete(info: Info): Reply {
    const busy = this.#busy(info);
    if (busy) return busy;
    info.IsDeleted = true;
    for (const row of this.#org.sandboxes) if (row.infoId === info.Id && !isVoid(row)) row.status = 'Deleted';
    const left = this.licences.get(String(info.LicenseType));
    if (left !== undefined) this.licences.set(String(info.LicenseType), left + 1);
    this.ledger.push({ act: 'delete', name: String(info.SandboxName), fields: {} });
    return NOTHING;
  }

  #decide(id: string, fields: Info): Reply {
    const row = this.#org.sandboxes.find((each) => isSame(each.id, id));
    if (!row) return restError(404, 'NOT_FOUND', 'The requested resource does not exist');
    const act = fields.RefreshAction;
    if (act !== 'ACTIVATE' && act !== 'DISCARD')
      return restError(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'bad value for restricted picklist field');
    if (row.status !== 'Pending Activation')
      return restError(400, 'FIELD_INTEGRITY_EXCEPTION', 'The sandbox is not pending activation.');
    row.status = act === 'ACTIVATE' ? 'Activating' : 'D';
    this.ledger.push({ act, name: row.name, fields });
    return NOTHING;
  }
}

const NOTHING: Reply = { status: 204, contentType: 'application/json', body: '' };

const named = (ids: ReadonlyMap<string, string>, field: string): SoqlTable =>
  table(() => [...ids].map(([name, id]) => ({ Id: id, [field]: name })), ['Id', field]);
