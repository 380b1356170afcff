import { DEFAULT_CLIENT_ID, OAUTH_REDIRECT_URI } from '../../../domain/orgs/crm/auth-url-rules.ts';
import type { CrmAnswer, OrgIdentity, MintedToken } from '../../../domain/orgs/crm/crm-platform.port.ts';
import type { Signup } from '../../../domain/orgs/crm/crm-scratch-orgs.port.ts';
import { registerOrg } from '../../../domain/orgs/crm-orgs/registrations.mutations.ts';
import { orgByUsername } from '../../../domain/orgs/crm-orgs/crm-orgs.queries.ts';
import { failureText } from '../../../domain/orgs/crm-orgs/tokens/org-failure-rules.ts';
import { isSameName } from '../../../domain/projects/environments/org-name-rules.ts';
import { intentOf, type RegisteredOrg } from '../../../domain/review/review-pools/pool-parts.ts';
import { registerInstance } from '../../../domain/review/review-pools/review-instances.mutations.ts';
import { signupErrorText } from '../../../domain/review/review-pools/signup-rules.ts';
import { moveStep, type StepRow } from '../../../domain/delivery/org-steps/org-steps.queries.ts';
import { PASSES } from '../../delivery/org-steps/act-in-org.ts';
import { beginOnce, CANNOT_TELL } from '../../delivery/org-steps/begin-once.ts';
import { answered } from '../../delivery/org-steps/org-call-failed.ts';
import { move } from '../../delivery/org-steps/org-work.ts';
import { type PartNext, type PoolWork, runActor } from './pool-work.ts';

export const LOOK_AT = 'Scratch Org Infos of the dev hub';
/** By which the clocks of the dev hub and of the service may differ. */
const SKEW_MS = 120_000;
/** A signup that is not active then is given up; clients wait 6 to 15 minutes. */
const MADE_WITHIN_MS = 60 * 60_000;
/** Names of new orgs may be unknown for some minutes. */
const REACHED_WITHIN_MS = 30 * 60_000;

/** Asks the dev hub for a scratch org, once, and follows it until it is active. */
export async function createScratchOrg(work: PoolWork, step: StepRow): Promise<PartNext> {
  const { deps, tenant, org, recipe } = work;
  const { fields = {}, mark = '' } = intentOf(step);
  const begun = await beginOnce(deps, tenant, step, {
    async create() {
      const order = { fields, description: mark, durationDays: recipe.durationDays };
      const made = await org.calls.createSignup(order);
      return made.isOk ? { isOk: true, value: made.value.signupId } : made;
    },
    find: (askedAt) => findSignup(work, mark, askedAt),
    lookAt: LOOK_AT,
  });
  const signup = answered(await org.calls.signup(begun.externalId ?? ''));
  if (signup?.status === 'Active') {
    const { expirationDate } = signup;
    await move(work, step, { state: 'succeeded', detail: signup.username, result: { expirationDate } });
    return undefined;
  }
  const why = whyBroken(signup);
  if (why !== null) {
    await move(work, step, { state: 'failed', error: why });
    return undefined;
  }
  const ageMs = deps.now().getTime() - new Date(begun.askedAt ?? deps.now()).getTime();
  if (ageMs > MADE_WITHIN_MS) {
    const error = `The dev hub did not make ${begun.externalId ?? ''} within an hour, and may still: look at ${LOOK_AT}`;
    await move(work, step, { state: 'failed', error });
    return undefined;
  }
  await move(work, step, { detail: signup?.status ?? null });
  return { againInSeconds: 15, text: step.name };
}

/** The id of the signup with that description among those of the service's own user. */
export async function findSignup(
  { org: { calls } }: PoolWork,
  mark: string,
  askedAt: Date,
): Promise<CrmAnswer<string | null>> {
  const identity = await calls.identity();
  if (!identity.isOk) return identity;
  const since = new Date(askedAt.getTime() - SKEW_MS).toISOString();
  const found = await calls.signupsSince({ userId: identity.value.userId, since });
  if (!found.isOk) return found;
  const [own, ...more] = found.value.filter(({ description }) => description === mark);
  return { isOk: true, value: more.length > 0 ? CANNOT_TELL : (own?.id ?? null) };
}

function whyBroken(signup: Signup | null): string | null {
  if (!signup) return 'The dev hub no longer has its row';
  if (signup.status === 'Error') return signupErrorText(signup.errorCode);
  return signup.status === 'Deleted' ? 'The dev hub deleted it right after it was made' : null;
}

/** Signs in to an org that was made, and registers it with its credential and in its pool. */
export async function registerScratchOrg(work: PoolWork, step: StepRow, created: StepRow): Promise<PartNext> {
  const { deps, org } = work;
  const signupId = created.externalId ?? '';
  const fail = async (error: string): Promise<undefined> => {
    await move(work, step, { state: 'failed', error });
  };
  const signup = answered(await org.calls.signup(signupId));
  if (!signup?.username || !signup.loginUrl || signup.status !== 'Active')
    return fail('The dev hub does not say where it is signed in to');
  const code = answered(await org.calls.signupCode(signupId));
  if (code === null) return fail('The dev hub gives no code for signing in to it');
  const client = { clientId: DEFAULT_CLIENT_ID, clientSecret: '', loginUrl: signup.loginUrl };
  const minted = await deps.crm.platform.exchangeCode({ ...client, code, redirectUri: OAUTH_REDIRECT_URI });
  const identity = minted.isOk ? await deps.crm.connections.callWith(minted.value, work.signal).identity() : minted;
  if (!minted.isOk || !identity.isOk) {
    const failed = identity.isOk ? minted : identity;
    if (failed.isOk) return fail('It could not be signed in to');
    const ageMs = deps.now().getTime() - new Date(created.endedAt ?? deps.now()).getTime();
    // A code is spent by an exchange whose answer was lost: then the next one is refused, and the org made anew.
    if (PASSES[failed.kind] && ageMs < REACHED_WITHIN_MS)
      return { againInSeconds: 15, text: `${step.name}: ${failed.message}` };
    return fail(failureText('It could not be signed in to', failed));
  }
  if (!isSameName(identity.value.username, signup.username) || identity.value.kind !== 'scratch')
    return fail(`The code of ${signup.username} signed in to ${identity.value.username}`);
  if (minted.value.refreshToken === null) return fail('The platform gave no refresh token for it');
  await register(work, step, {
    identity: identity.value,
    minted: minted.value,
    loginUrl: signup.loginUrl,
    expirationDate: signup.expirationDate,
  });
  return undefined;
}

interface SignedIn {
  identity: OrgIdentity;
  minted: MintedToken;
  loginUrl: string;
  expirationDate: string | null;
}

function register(
  work: PoolWork,
  step: StepRow,
  { identity, minted, loginUrl, expirationDate }: SignedIn,
): Promise<void> {
  const { deps, tenant, run, pool } = work;
  const { encryption } = deps;
  const { username, orgId: platformOrgId } = identity;
  const { instanceUrl } = minted;
  const credential = {
    clientId: DEFAULT_CLIENT_ID,
    clientSecret: '',
    refreshToken: minted.refreshToken ?? '',
    loginUrl,
  };
  const expiresAt = identity.expiresAt ?? (expirationDate === null ? null : `${expirationDate}T00:00:00.000Z`);
  return deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    const { id: orgId } = await registerOrg(tx, {
      identity,
      instanceUrl,
      marks: {},
      metadata: { pool: pool.tag },
      access: { type: 'refresh_token', encryption, credential, minted },
    });
    const { instance } = await registerInstance(tx, encryption, pool.id, {
      username,
      instanceUrl,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      state: 'provisioning',
    });
    const registered: RegisteredOrg = { orgId, username, instanceUrl, platformOrgId, instanceId: instance.id };
    await moveStep(tx, step.id, { state: 'succeeded', detail: username, result: { ...registered } });
  });
}

/** Adds a sandbox that was created and registered to its pool. */
export async function registerMadeSandbox(work: PoolWork, step: StepRow, { result }: StepRow): Promise<PartNext> {
  const { deps, tenant, run, pool } = work;
  await deps.actingAs(runActor(tenant, run.id))(async (tx) => {
    const org = await orgByUsername(tx, String(result.orgUsername));
    if (!org) {
      await moveStep(tx, step.id, { state: 'failed', error: 'The sandbox is not registered: its own run says why' });
      return;
    }
    const { id: orgId, username, instanceUrl, platformOrgId } = org;
    const { instance } = await registerInstance(tx, deps.encryption, pool.id, {
      username,
      instanceUrl,
      state: 'provisioning',
    });
    const registered = { orgId, username, instanceUrl, platformOrgId: platformOrgId ?? '', instanceId: instance.id };
    await moveStep(tx, step.id, { state: 'succeeded', detail: username, result: registered });
  });
  return undefined;
}
