import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { CrmAnswer, CrmPlatform } from '../../../domain/orgs/crm/crm-platform.port.ts';
import { malformed, newestVersion, orgFailure } from '../../../domain/orgs/crm/platform-error-rules.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { createCrmHttp, type CrmTimeouts, notJson, type SendCrm } from './crm-http.ts';
import { readJson } from '../outbound/outbound-http.ts';
import { createCrmApexTests } from './crm-apex-tests.ts';
import { createCrmDeployments } from './crm-deployments.ts';
import { createCrmMetadata } from './crm-metadata.ts';
import { createCrmOrg } from './crm-org.ts';
import { createCrmPackages } from './crm-packages.ts';
import { createCrmRecords } from './crm-records.ts';
import { createCrmSandboxChanges } from './crm-sandbox-changes.ts';
import { createCrmSandboxes } from './crm-sandboxes.ts';
import { createCrmScratchOrgs } from './crm-scratch-orgs.ts';
import { createCrmSession } from './crm-session.ts';
import { createCrmTokens } from './crm-tokens.ts';

const TIMEOUTS: CrmTimeouts = { callMs: 20_000, downloadMs: 300_000 };
const VERSION_KEPT_MS = 24 * 60 * 60_000;
const ORGS_KEPT = 10_000;

export interface CrmPlatformParts {
  addresses: HostAddresses;
  /** Newest version of the interface that the service speaks, `CRM_API_VERSION_MAX`. */
  apiVersionMax: string;
  /** `CRM_SCRATCH_AUTH_FIELD`. */
  scratchAuthField: string;
  /** Shorter in tests. */
  timeouts?: Partial<CrmTimeouts>;
}

export interface ClosableCrmPlatform extends CrmPlatform {
  close: () => Promise<void>;
}

/** The CRM platform over HTTP. */
export function createCrmPlatform({
  addresses,
  apiVersionMax,
  scratchAuthField,
  ...parts
}: CrmPlatformParts): ClosableCrmPlatform {
  const timeouts = { ...TIMEOUTS, ...parts.timeouts };
  const { send, close } = createCrmHttp(addresses);
  const apiVersion = createApiVersions(send, apiVersionMax, timeouts);
  return {
    ...createCrmTokens({ send, addresses, timeouts }),
    apiVersion,
    org(access) {
      const session = createCrmSession({ send, apiVersion, timeouts, access });
      const rest = createCrmOrg(session, timeouts);
      return {
        ...rest,
        ...createCrmSandboxes(session, { addresses, scratchAuthField, timeouts }),
        ...createCrmSandboxChanges(session, rest.query),
        ...createCrmMetadata(session, timeouts),
        ...createCrmRecords(session),
        ...createCrmDeployments(session, timeouts),
        ...createCrmPackages(session, rest.query),
        ...createCrmApexTests(session),
        ...createCrmScratchOrgs(session, rest.query, addresses),
      };
    },
    close,
  };
}

const Versions = z.array(z.object({ version: z.string() }));

/** Asks each org once a day; callers that come together share the question. */
function createApiVersions(send: SendCrm, cap: string, { callMs }: CrmTimeouts): CrmPlatform['apiVersion'] {
  const known = new LRUCache<string, { askedAt: number; answer: Promise<CrmAnswer<string>> }>({ max: ORGS_KEPT });
  const ask = (origin: string) =>
    send<string>({ method: 'GET', origin, path: '/services/data', timeoutMs: callMs }, async (response) => {
      const { status, contentType, json } = await readJson(response);
      if (status !== 200) return orgFailure({ status });
      const versions = Versions.safeParse(json);
      if (!versions.success) return notJson({ contentType });
      const value = newestVersion(
        versions.data.map(({ version }) => version),
        cap,
      );
      return value === undefined
        ? malformed('NO_VERSION', `The org has no API version up to ${cap}.`)
        : { isOk: true, value };
    });
  return async (origin) => {
    const found = known.get(origin);
    if (found && Date.now() - found.askedAt < VERSION_KEPT_MS) return found.answer;
    const entry = { askedAt: Date.now(), answer: ask(origin) };
    known.set(origin, entry);
    const answer = await entry.answer;
    if (!answer.isOk && known.get(origin) === entry) known.delete(origin);
    return answer;
  };
}
