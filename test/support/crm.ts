import {
  type ClosableCrmPlatform,
  type CrmPlatformParts,
  createCrmPlatform,
} from '../../activities/adapters/crm/crm-platform.ts';
import type { CrmTimeouts } from '../../activities/adapters/crm/crm-http.ts';
import { parseAuthUrl } from '../../domain/orgs/crm/auth-url-rules.ts';
import type {
  ApiUsage,
  CrmAnswer,
  CrmCredential,
  CrmFailure,
  CrmOrg,
  OrgAccess,
} from '../../domain/orgs/crm/crm-platform.port.ts';
import { outboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import type { SimulatedOrg } from '../simulators/crm-org/org.ts';
import { type CrmSimulator, crmSimulator } from '../simulators/crm-org/simulator.ts';
import { eventually } from './eventually.ts';

/** For orgs that never answer: nothing that answers may depend on times so short. */
export const IMPATIENT: CrmTimeouts = { callMs: 300, downloadMs: 300 };

/** The platform as the service calls it, with loopback open, and more time than any answer takes. */
export const crmPlatform = (parts: Partial<CrmPlatformParts> = {}): ClosableCrmPlatform =>
  createCrmPlatform({
    addresses: outboundAddresses('127.0.0.0/8'),
    apiVersionMax: '68.0',
    scratchAuthField: 'SfdxAuthUrl__c',
    timeouts: { callMs: 60_000, downloadMs: 60_000 },
    ...parts,
  });

export interface SimulatedPlatform {
  crm: CrmSimulator;
  platform: ClosableCrmPlatform;
  /** The platform with other settings, for the rest of the test. */
  reconnect: (parts: Partial<CrmPlatformParts>) => Promise<void>;
  /** The org through a platform with such time-outs, signed in already and its version known: its next call is the first. */
  openedWith: (timeouts: CrmTimeouts, org: SimulatedOrg) => Promise<{ org: CrmOrg; access: CountedAccess }>;
}

/** Simulated orgs and the platform that calls them, anew for each test of the file. */
export function simulatedPlatform(): SimulatedPlatform {
  const given = {
    async reconnect(parts) {
      await given.platform.close();
      given.platform = crmPlatform(parts);
    },
    async openedWith(timeouts, simulated) {
      const access = accessTo(given.platform, simulated);
      valueOf(await access.credential());
      await given.reconnect({ timeouts });
      await eventually(
        () => given.platform.apiVersion(simulated.url),
        ({ isOk }) => isOk,
      );
      return { org: given.platform.org(access), access };
    },
  } as SimulatedPlatform;
  beforeEach(async () => {
    given.crm = await crmSimulator();
    given.platform = crmPlatform();
  });
  afterEach(async () => {
    await given.platform.close();
    await given.crm.close();
  });
  return given;
}

/** What an auth URL says; throws for a bad one. */
export function authUrlParts(text: string) {
  const parsed = parseAuthUrl(text);
  if (!parsed.isOk) throw new Error(parsed.reason);
  return parsed.authUrl;
}

export interface CountedAccess extends OrgAccess {
  /** How often a token was minted. */
  minted: number;
  usages: ApiUsage[];
}

/** Access to an org by refreshing, as a token store gives it. */
export function accessTo(platform: ClosableCrmPlatform, org: SimulatedOrg): CountedAccess {
  let current: Promise<CrmAnswer<CrmCredential>> | undefined;
  const mint = () => {
    access.minted++;
    current = platform.refresh(authUrlParts(org.authUrl));
    return current;
  };
  const access: CountedAccess = {
    minted: 0,
    usages: [],
    credential: () => current ?? mint(),
    renew: mint,
    onApiUsage: (usage) => access.usages.push(usage),
  };
  return access;
}

/** The value of an answer; throws what failed. */
export function valueOf<Value>(answer: CrmAnswer<Value>): Value {
  if (!answer.isOk) throw new Error(JSON.stringify(answer));
  return answer.value;
}

/** The failure of an answer; throws when it has none. */
export function failureOf(answer: CrmAnswer<unknown>): CrmFailure {
  if (answer.isOk) throw new Error(`it succeeded: ${JSON.stringify(answer.value)}`);
  return answer;
}

/** The secrets that can be read in the texts, also as part of an address. */
export function leaked(texts: readonly string[], secrets: Iterable<string>): string[] {
  const all = texts.join('\n');
  return [...secrets].filter((secret) => all.includes(secret) || all.includes(encodeURIComponent(secret)));
}
