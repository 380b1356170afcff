import type { StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { whyInUse } from '../../../domain/delivery/sandboxes/sandbox-offers.ts';
import {
  ACTIVATE,
  CREATE,
  REFRESH,
  textOf,
  usualMinutes,
  whyNoGroup,
  whyNotDefined,
  whyNotNow,
} from '../../../domain/delivery/sandboxes/sandbox-rules.ts';
import type { CrmOrg } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { DefinedSandbox, SandboxCopy, SandboxDefinition } from '../../../domain/orgs/crm/crm-sandboxes.port.ts';
import { isIdOf, longId } from '../../../domain/orgs/crm/org-id-rules.ts';
import { licenceTypeOf } from '../../../domain/orgs/crm/sandbox-rules.ts';
import { recordsOfSandbox } from '../../../domain/orgs/crm-orgs/copied-sandboxes.mutations.ts';
import { type ChangesInOrg, changesInOrg } from '../../../domain/orgs/org-explorer/changes-in-org.queries.ts';
import type { OrgRow } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { systemActor } from '../../../domain/kernel/shared/actor.ts';
import { soqlName, soqlText } from '../../../domain/kernel/text/soql-rules.ts';
import { isRefusal } from '../org-steps/act-in-org.ts';
import { answered } from '../org-steps/org-call-failed.ts';
import { cannotGo, type CheckedSandbox, move, type SandboxWork } from './sandbox-work.ts';

/** Finds out whether a run can go, and what it needs of production; once. Throws a `DomainError` where it cannot. */
export async function checkSandbox(work: SandboxWork, step: StepRow): Promise<StepRow> {
  if (step.state === 'succeeded') return step;
  try {
    const found = await (work.act === CREATE ? checkNew(work) : checkExisting(work));
    return await move(work, step, { state: 'succeeded', result: { ...found }, detail: detailOf(found) });
  } catch (error) {
    if (isRefusal(error)) await move(work, step, { state: 'failed', error: error.message });
    throw error;
  }
}

async function checkNew({ calls, sandbox: { name }, run: { payload } }: SandboxWork): Promise<CheckedSandbox> {
  const why = whyNotDefined(payload);
  if (why !== null) throw cannotGo(why);
  const same = answered(await calls.sandboxDefinition(name));
  if (same) throw cannotGo(`There is a sandbox ${name} already (${same.id}): request-sandbox-refresh copies it anew`);
  const definition = await definitionOf(calls, payload);
  const [last] = answered(await calls.sandboxCopies({ name }));
  return {
    sandboxInfoId: null,
    lastCopyId: last?.id ?? null,
    formerOrgId: null,
    definition,
    ...(await usualOf(calls, definition)),
  };
}

async function checkExisting(work: SandboxWork): Promise<CheckedSandbox> {
  const { calls, act, sandbox, run, deps } = work;
  const { name } = sandbox;
  const known = answered(await calls.sandboxDefinition(name));
  if (!known) throw cannotGo(`${sandbox.production.username} has no sandbox ${name}`);
  const copies = answered(await calls.sandboxCopies({ name })).filter(
    ({ sandboxInfoId }) => sandboxInfoId === known.id,
  );
  const why = act === ACTIVATE ? whyNotPending(name, copies) : whyNotNow(known, copies, deps.now());
  if (why !== null) throw cannotGo(why);
  const copied = copies.find(({ stage }) => stage === 'completed');
  const formerOrgId = copied?.orgId ? longId(copied.orgId) : null;
  const { inUse, records } = await work.unit(async (tx) => {
    const found = await recordsOfSandbox(tx, sandbox, formerOrgId);
    return { inUse: await whyInUse(tx, act, run.payload, { ...sandbox, records: found }), records: found };
  });
  if (inUse !== null) throw cannotGo(inUse);
  const definition = act === REFRESH ? await definitionOf(calls, run.payload) : {};
  if (act === REFRESH) assertGroup(known, definition);
  return {
    sandboxInfoId: known.id,
    lastCopyId: copies[0]?.id ?? null,
    formerOrgId,
    definition,
    ...(await usualOf(calls, { ...known, ...definition })),
    changesInIt: await changesIn(work, records[0], copied),
  };
}

function whyNotPending(name: string, [newest]: readonly SandboxCopy[]): string | null {
  if (newest?.stage === 'pending_activation') return null;
  return `Sandbox ${name} is not pending activation: its status is ${newest?.status ?? 'not known'}`;
}

/** A group that is named neither by the payload nor by what the sandbox was made with. */
function assertGroup(known: DefinedSandbox, changes: SandboxDefinition): void {
  const { sourceId, licenseType, activationGroupId } = { ...known, ...changes };
  const why = sourceId === undefined ? whyNoGroup(licenseType, activationGroupId) : null;
  if (why !== null) throw cannotGo(why);
}

/** What a payload says of how a sandbox is made, with the ids that production has for its names. */
async function definitionOf(calls: CrmOrg, payload: Readonly<Record<string, unknown>>): Promise<SandboxDefinition> {
  const source = textOf(payload.sourceSandboxName);
  const group = textOf(payload.activationGroup);
  const apexClass = textOf(payload.apexClass);
  const found = source === undefined ? undefined : answered(await calls.sandboxDefinition(source));
  if (found === null) throw cannotGo(`There is no sandbox ${source} to clone`);
  const definition: SandboxDefinition = {
    licenseType: found?.licenseType ?? licenceTypeOf(textOf(payload.licenseType)) ?? undefined,
    sourceId: found?.id,
    description: textOf(payload.description),
    templateId: textOf(payload.templateId),
    activationGroupId: await idOf(calls, 'Group', 'DeveloperName', '00G', group),
    apexClassId: await idOf(calls, 'ApexClass', 'Name', '01p', apexClass),
    isAutoActivated: payload.autoActivate !== false,
    features: Array.isArray(payload.features) ? payload.features.map(String) : undefined,
  };
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
}

/** The id of a record that is given by its id or name. */
async function idOf(
  calls: CrmOrg,
  type: string,
  field: string,
  prefix: string,
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined || isIdOf(prefix, given)) return given;
  const soql = `SELECT Id FROM ${soqlName(type)} WHERE ${soqlName(field)} = ${soqlText(given)}`;
  const { rows } = answered(await calls.query(soql, { maxRows: 2 }));
  if (rows.length !== 1)
    throw cannotGo(`Production has ${rows.length === 0 ? 'no' : 'more than one'} ${type} whose ${field} is ${given}`);
  return String(rows[0]?.Id);
}

async function usualOf(calls: CrmOrg, { licenseType }: SandboxDefinition) {
  if (licenseType === undefined) return {};
  const usual = usualMinutes(answered(await calls.sandboxCopies({ licenseType })));
  return usual === undefined ? {} : { usualMinutes: usual };
}

/** What is lost with what the last copying made. */
async function changesIn(
  { deps, tenant }: SandboxWork,
  record: OrgRow | undefined,
  copied: SandboxCopy | undefined,
): Promise<ChangesInOrg | null> {
  if (!copied || !record) return null;
  return changesInOrg(deps.reads.as(systemActor(tenant, 'flow')), record, copied.endedAt ?? copied.createdAt);
}

function detailOf({ changesInIt }: CheckedSandbox): string | null {
  if (changesInIt === undefined) return null;
  return changesInIt === null
    ? 'What was changed in its metadata since it was copied is not known: there is no index of it'
    : `${changesInIt.components} components of no package were changed in it since it was copied, as indexed at ${changesInIt.indexedAt}`;
}
