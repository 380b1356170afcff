import { readFileSync, writeFileSync } from 'node:fs';
import type { ReferenceExample, ReferenceExamples } from '../../api/http/openapi/openapi-examples.ts';
import type { Answer } from '../support/client.ts';
import { type Example, prefixOf } from './examples/example.ts';

const FILE = new URL('../../api/http/openapi/openapi-examples.json', import.meta.url);

export const readRecorded = (): ReferenceExamples => JSON.parse(readFileSync(FILE, 'utf8')) as ReferenceExamples;

/** One operation per line, in order, so that a change of one is a change of one line. */
export function writeRecorded(examples: ReferenceExamples): void {
  const lines = Object.keys(examples)
    .toSorted()
    .map((operation) => `  ${JSON.stringify(operation)}: ${JSON.stringify(examples[operation])}`);
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

/** Items of a list, and characters of a text, that the reference shows. */
const SHOWN_ITEMS = 2;
const SHOWN_CHARACTERS = 4_000;
/** Objects with more members are maps, which are cut like lists. */
const OBJECT_MAX_MEMBERS = 40;

/**
 * A call and its reply as the reference shows them, the same in every recording. Pages and problems are left out:
 * operations share the responses of problems.
 */
export function recordedExample(
  { params, query, body, form, bytes }: Example,
  { status, headers, text, body: json }: Answer,
): ReferenceExample {
  const stable = stableValues();
  const request = stable({
    ...(params && { params }),
    ...(query && { query }),
    ...((form ?? bytes ?? body) !== undefined && { body: form ?? bytes ?? body }),
  }) as Pick<ReferenceExample, 'params' | 'query' | 'body'>;
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (status >= 400 || text === '' || type === 'text/html') return { ...request, status };
  return { ...request, status, reply: { type, body: stable(shorten(json ?? text)) } };
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, SHOWN_CHARACTERS);
  if (Array.isArray(value)) return value.slice(0, SHOWN_ITEMS).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const kept = members.length > OBJECT_MAX_MEMBERS ? members.slice(0, SHOWN_ITEMS) : members;
  return Object.fromEntries(kept.map(([name, member]) => [name, shorten(member)]));
}

/** Shown instead of the values of members with these names: secrets without a form of their own, and measured times. */
const SHOWN_VALUES: Record<string, unknown> = {
  password: 'correct horse battery',
  currentPassword: 'correct horse battery',
  token: 'c2VjcmV0LW9mLXRoZS1saW5r',
  processingTimeMs: 12,
  accessToken: '00D000000000001!AQEAQA3Ne0fYxk',
  cliAuthUrl: 'force://PlatformCLI::5AepQ3Ne0fYxk@acme.my.crm.example.com',
  instanceUrl: 'https://acme.my.crm.example.com',
  frontDoorUrl: 'https://acme.my.crm.example.com/secur/frontdoor.jsp?otp=R0tOWA',
};

/** What differs from run to run, by its form, and the nth different value that an example shows instead. */
const VARYING: readonly [form: RegExp, shown: (n: number) => string][] = [
  [
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    (n) => `0198c5a0-7b3e-7000-8000-${String(n).padStart(12, '0')}`,
  ],
  [/\b[0-9a-f]{64}\b/g, (n) => String(n).padStart(64, 'e3b0c442')],
  [/\b[0-9a-f]{40}\b/g, (n) => String(n).padStart(40, '4b825dc6')],
  [/\b[0-9a-f]{32}\b/g, (n) => String(n).padStart(32, 'd41d8cd9')],
  [/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g, (n) => `k3mw-7xqp-h2vd-${String(n + 1).padStart(4, '2')}`],
  [/\bqs_app_\w{43}/g, () => 'qs_app_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'],
  [/\bqs_ref_[\w-]{43}/g, () => 'qs_ref_c2Vzc2lvbi1yZWZyZXNoLXRva2Vu'],
  [/\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g, () => 'eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl'],
  // References of recordings: the encoded beginning of an encrypted value.
  [/\bdjEu[\w-]{40,}/g, () => 'djEuazEuZW5jcnlwdGVk'],
  // References of a file of a playlist: the encrypted grant, and the encoded name.
  [/\bv1\.\w+\.[\w-]+~[\w-]+/g, () => 'v1.k1.ZW5jcnlwdGVk~c2VnbWVudC0wMDAwMC5tNHM'],
  [/\bwhsec_[A-Za-z0-9+/=]+/g, () => 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  [/\b00D5g\w{10}(?:\w{3})?\b/g, (n) => `00D${String(n).padStart(12, '0')}EAA`],
  [/\b[A-Z2-7]{32}\b/g, () => 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  [/^\d{6}$/g, () => '123456'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, () => '2026-03-02T09:30:00.000Z'],
  // The prefix of the test's task queues, in ids of workflows.
  [/\bt[0-9a-f]{12}-:/g, () => ''],
  [/http:\/\/quayside\.test/g, () => 'https://quayside.example.com'],
  [/ws:\/\/quayside\.test/g, () => 'wss://quayside.example.com'],
  [/http:\/\/127\.0\.0\.1:\d+/g, () => 'https://receiver.example.com'],
];

/** Replaces what differs from run to run, each value by the same one throughout an example. */
function stableValues(): (value: unknown) => unknown {
  const shownByValue = new Map<string, string>();
  const countByKind = new Map<unknown, number>();
  const shownFor = (value: string, kind: unknown, shown: (n: number) => string): string => {
    const known = shownByValue.get(value);
    if (known !== undefined) return known;
    const n = (countByKind.get(kind) ?? 0) + 1;
    countByKind.set(kind, n);
    shownByValue.set(value, shown(n));
    return shown(n);
  };
  const stableName = (name: string): string => {
    const prefix = prefixOf(name);
    return prefix === undefined ? name : shownFor(name, prefix, (n) => (n === 1 ? prefix : `${prefix}-${n}`));
  };
  const stableText = (text: string): string =>
    VARYING.reduce(
      (stable, [form, shown]) => stable.replaceAll(form, (value) => shownFor(value, form, shown)),
      text.replaceAll(/[a-z0-9.]+(?:-[a-z0-9.]+)*-\d+/g, stableName),
    );
  const stable = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string' || typeof value === 'number') {
      if (name in SHOWN_VALUES && !String(value).startsWith('qs_app_')) return SHOWN_VALUES[name];
      return typeof value === 'string' ? stableText(value) : value;
    }
    if (Array.isArray(value)) return value.map((item) => stable(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [stableText(key), stable(member, key)]));
  };
  return (value) => stable(value);
}
