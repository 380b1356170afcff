import { z } from 'zod';
import type { CrmAnswer, CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import {
  COPIES_MAX,
  type CopiesOf,
  type DefinedSandbox,
  type SandboxChanges,
  type SandboxDefinition,
} from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import { copyOf, licenceTypeOf } from '../../../domain/orgs/crm/sandbox-rules.ts';
import { soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import { shaped } from './crm-org.ts';
import { Process, text } from './crm-sandboxes.ts';
import type { CrmSession } from './crm-session.ts';

const INFOS = '/tooling/sobjects/SandboxInfo';
const Made = z.object({ id: z.string().min(1), success: z.literal(true) });
const Names = z.array(z.object({ Id: z.string() }));
/** A refresh gives these back as they were read; what an org does not have is not read. */
const Definition = z.object({
  SandboxName: z.string(),
  LicenseType: text,
  SourceId: text,
  Description: text,
  TemplateId: text,
  HistoryDays: z.number().nullish(),
  CopyChatter: z.boolean().nullish(),
  AutoActivate: z.boolean().nullish(),
  ApexClassId: text,
  ActivationUserGroupId: text,
  Features: text,
});

/**
 * Changes of sandboxes, by `SandboxInfo` and `SandboxProcess` of the Tooling interface (developer.salesforce.com, Tooling API, "SandboxInfo",
 * "SandboxProcess").
 */
export function createCrmSandboxChanges(session: CrmSession, query: CrmOrg['query']): SandboxChanges {
  const record = async (id: string) => shaped(await session.call({ path: `${INFOS}/${id}` }), Definition);
  const write = async (method: 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<CrmAnswer<null>> => {
    const answer = await session.call({ method, path, ...(body !== undefined && { body }) });
    return answer.isOk ? { isOk: true, value: null } : answer;
  };
  return {
    async sandboxCopies(of) {
      const soql = `SELECT ${Object.keys(Process.shape).join(', ')} FROM SandboxProcess WHERE ${conditionOf(of)} ORDER BY CreatedDate DESC LIMIT ${COPIES_MAX}`;
      const found = await query(soql, { isTooling: true, maxRows: COPIES_MAX });
      if (!found.isOk) return found;
      const rows = shaped({ isOk: true, value: found.value.rows }, z.array(Process));
      return rows.isOk ? { isOk: true, value: rows.value.map(copyOf) } : rows;
    },

    async sandboxDefinition(name) {
      const found = await query(`SELECT Id FROM SandboxInfo WHERE SandboxName = ${soqlText(name)}`, {
        isTooling: true,
        maxRows: 1,
      });
      if (!found.isOk) return found;
      const ids = shaped({ isOk: true, value: found.value.rows }, Names);
      if (!ids.isOk) return ids;
      const [info] = ids.value;
      if (!info) return { isOk: true, value: null };
      const defined = await record(info.Id);
      if (!defined.isOk) return defined.kind === 'not_found' ? { isOk: true, value: null } : defined;
      return { isOk: true, value: definedAs(info.Id, defined.value) };
    },

    async createSandbox({ name, ...definition }) {
      const body = { SandboxName: name, ...fieldsOf(definition) };
      const made = shaped(await session.call({ path: INFOS, body }), Made);
      return made.isOk ? { isOk: true, value: { sandboxInfoId: made.value.id } } : made;
    },

    async refreshSandbox(sandboxInfoId, changes) {
      const before = await record(sandboxInfoId);
      return before.isOk
        ? write('PATCH', `${INFOS}/${sandboxInfoId}`, present({ ...before.value, ...present(fieldsOf(changes)) }))
        : before;
    },

    deleteSandbox: (sandboxInfoId) => write('DELETE', `${INFOS}/${sandboxInfoId}`),

    decideSandbox: (copyId, decision) =>
      write('PATCH', `/tooling/sobjects/SandboxProcess/${copyId}`, { RefreshAction: decision }),
  };
}

const definedAs = (id: string, value: z.output<typeof Definition>): DefinedSandbox => ({
  id,
  name: value.SandboxName,
  licenseType: licenceTypeOf(value.LicenseType) ?? undefined,
  sourceId: value.SourceId ?? undefined,
  description: value.Description ?? undefined,
  templateId: value.TemplateId ?? undefined,
  activationGroupId: value.ActivationUserGroupId ?? undefined,
  apexClassId: value.ApexClassId ?? undefined,
  isAutoActivated: value.AutoActivate ?? undefined,
});

function conditionOf(of: CopiesOf): string {
  if ('id' in of) return `Id = ${soqlText(of.id)}`;
  if ('name' in of) return `SandboxName = ${soqlText(of.name)}`;
  const words = [...new Set([of.licenseType, of.licenseType.replaceAll('_', ' ')])];
  return `LicenseType IN (${words.map(soqlText).join(', ')}) AND Status = 'Completed'`;
}

/** A clone has the type of licence of its source. */
const fieldsOf = (definition: SandboxDefinition) => ({
  ...(definition.sourceId === undefined ? { LicenseType: definition.licenseType } : { SourceId: definition.sourceId }),
  Description: definition.description,
  TemplateId: definition.templateId,
  ActivationUserGroupId: definition.activationGroupId,
  ApexClassId: definition.apexClassId,
  AutoActivate: definition.isAutoActivated,
  Features: definition.features && JSON.stringify(definition.features),
});

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
