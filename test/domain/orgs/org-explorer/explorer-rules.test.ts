import { createFileOwners } from '../../../../domain/orgs/org-explorer/file-owner-rules.ts';
import {
  indexedComponent,
  isNoLongerDescribed,
  planListing,
  typeOfListed,
} from '../../../../domain/orgs/org-explorer/listing-rules.ts';
import { readState } from '../../../../domain/orgs/org-explorer/read-state-rules.ts';
import {
  afterFailure,
  chunkOf,
  grownSize,
  orderOf,
  pollDelayMs,
  retryDelayMs,
} from '../../../../domain/orgs/org-explorer/retrieve-rules.ts';

const owner = (metadataType: string, memberName: string, fileName: string | null) => ({
  metadataType,
  memberName,
  fileName,
});

test.each<[string, string | undefined]>([
  ['unpackaged/classes/A.cls', 'A'],
  ['unpackaged/classes/A.cls-meta.xml', 'A'],
  ['unpackaged/classes/AB.cls', undefined],
  ['unpackaged/lwc/card/__tests__/card.test.js', 'card'],
  ['unpackaged/lwc/cards/cards.js', undefined],
  ['unpackaged/reports/Sales-meta.xml', 'Sales'],
  ['unpackaged/reports/Sales/Pipeline.report', 'Sales/Pipeline'],
  ['unpackaged/reports/Sales/Other.report', undefined],
  ['unpackaged/experiences/shop/views/home.json', 'shop'],
  ['unpackaged/experiences/shop.site-meta.xml', 'shop'],
  ['unpackaged/layouts/Account-Sales (EU).layout', 'Account-Sales %28EU%29'],
  ['unpackaged/package.xml', undefined],
  ['unpackaged/100%.txt', undefined],
])('%s belongs to %s', (path, memberName) => {
  const ownerOf = createFileOwners([
    owner('ApexClass', 'A', 'classes/A.cls'),
    owner('LightningComponentBundle', 'card', 'lwc/card'),
    owner('ReportFolder', 'Sales', 'reports/Sales'),
    owner('Report', 'Sales/Pipeline', 'reports/Sales/Pipeline.report'),
    owner('ExperienceBundle', 'shop', 'experiences/shop.site'),
    owner('Layout', 'Account-Sales %28EU%29', 'layouts/Account-Sales %28EU%29.layout'),
    owner('Unknown', 'x', null),
  ]);
  expect(ownerOf(path)?.memberName).toBe(memberName);
});

test('an order names folders among their contents, and profiles come by themselves', () => {
  const due = [
    { id: '1', metadataType: 'ReportFolder', memberName: 'Sales' },
    { id: '2', metadataType: 'Report', memberName: 'Sales/B' },
    { id: '3', metadataType: 'Profile', memberName: 'Admin' },
    { id: '4', metadataType: 'ApexClass', memberName: 'A' },
  ];
  expect(orderOf(chunkOf(due, 10)).types).toEqual([
    { name: 'ApexClass', members: ['A'] },
    { name: 'Report', members: ['Sales', 'Sales/B'] },
  ]);
  expect(chunkOf(due.slice(2), 10).map(({ id }) => id)).toEqual(['3']);
  expect(chunkOf([], 10)).toEqual([]);
  expect([grownSize(3), grownSize(4_000)]).toEqual([6, 4_000]);
});

test.each<[Parameters<typeof afterFailure>[0], Partial<Parameters<typeof afterFailure>[1]>, string]>([
  [{ kind: 'refused', code: 'LIMIT_EXCEEDED' }, { members: 8 }, 'halve'],
  [{ kind: 'malformed', code: 'ZIP_ENTRY_SIZE' }, { members: 2 }, 'halve'],
  [{ kind: 'refused', code: 'LIMIT_EXCEEDED' }, { members: 1 }, 'leave_out'],
  [{ kind: 'refused', code: 'UNKNOWN_EXCEPTION' }, { members: 8, isRefusedByOrg: true }, 'halve'],
  [{ kind: 'refused', code: 'UNKNOWN_EXCEPTION' }, { members: 1, isRefusedByOrg: true, leftOut: 19 }, 'leave_out'],
  [{ kind: 'refused', code: 'UNKNOWN_EXCEPTION' }, { members: 1, isRefusedByOrg: true, leftOut: 20 }, 'end'],
  [{ kind: 'refused', code: 'UNKNOWN_EXCEPTION' }, { members: 2, isRefusedByOrg: true, leftOut: 20 }, 'halve'],
  [{ kind: 'limited', code: 'REQUEST_LIMIT_EXCEEDED' }, {}, 'pause'],
  [{ kind: 'auth_failed', code: 'invalid_grant' }, {}, 'end'],
  [{ kind: 'refused', code: 'object_store' }, {}, 'end'],
  [{ kind: 'timeout', code: null }, { failures: 3 }, 'retry'],
  [{ kind: 'timeout', code: null }, { failures: 4 }, 'end'],
  [{ kind: 'malformed', code: 'ZIP' }, { failures: 2 }, 'end'],
])('after %j of %j: %s', (failure, more, expected) => {
  expect(afterFailure(failure, { members: 4, failures: 1, isRefusedByOrg: false, leftOut: 0, ...more })).toBe(expected);
});

const type = (name: string, more: object = {}) => ({
  name,
  directoryName: name.toLowerCase(),
  suffix: 'x',
  isInFolder: false,
  hasMetaFile: false,
  childTypes: [],
  ...more,
});

test('children and folders are listed with their types, what the platform does not list is not asked for', () => {
  const described = [
    type('CustomObject', { childTypes: ['CustomField'] }),
    type('EmailTemplate', { isInFolder: true }),
    type('StandardValueSet'),
  ];
  expect(planListing(described, null).types.map(({ metadataType }) => metadataType)).toEqual([
    'CustomObject',
    'CustomField',
    'EmailFolder',
    'EmailTemplate',
  ]);
  const { types, unknown, unlisted } = planListing(described, ['CustomField', 'Nothing', 'StandardValueSet']);
  expect([types.map(({ metadataType }) => metadataType), unknown, unlisted]).toEqual([
    ['CustomField'],
    ['Nothing'],
    ['StandardValueSet'],
  ]);
  const withParts = planListing(described, ['CustomObject']).types;
  expect(withParts.map(({ metadataType }) => metadataType)).toEqual(['CustomObject', 'CustomField']);
});

test('waiting for an order, and after failures, takes longer each time up to a limit', () => {
  expect([0, 1, 20].map((polls) => pollDelayMs(polls))).toEqual([500, 1_000, 30_000]);
  expect([1, 2, 3, 9].map((failures) => retryDelayMs(failures))).toEqual([1_000, 4_000, 16_000, 60_000]);
  expect([pollDelayMs(1, 20), retryDelayMs(2, 20)]).toEqual([40, 160]);
});

test('a type is no longer described when the org has others and not this one', () => {
  const { types } = planListing([type('A', { childTypes: ['B'] })], null);
  const [a] = types;
  if (!a) throw new Error('types are missing');
  const kept = (metadataType: string, description: typeof a.description | null) => ({ metadataType, description });
  expect(isNoLongerDescribed(types)(kept('C', a.description))).toBe(true);
  expect(isNoLongerDescribed(types)(kept('B', a.description))).toBe(false);
  // Only workers outside report it.
  expect(isNoLongerDescribed(types)(kept('C', null))).toBe(false);
  expect(isNoLongerDescribed([])(kept('C', a.description))).toBe(false);
});

test.each<[string, string | null, string | null, string[], string | undefined]>([
  ['of another folder', null, 'b/x.x', ['A', 'B'], 'B'],
  ['in the file of its parent', null, 'b/x.x', ['A', 'B', 'C'], undefined],
  ['without a file', null, null, ['A', 'B'], undefined],
  ['that is named', 'C', 'b/x.x', ['A', 'B', 'C'], 'C'],
  ['that is named as none of those asked for', 'D', 'b/x.x', ['A', 'B'], undefined],
  ['of the only one asked for', null, null, ['C'], 'C'],
  ['of the only one asked for, under another name', 'D', 'b/x.x', ['C'], 'C'],
])('the type of a listed component %s', (_, named, fileName, asked, expected) => {
  const { types } = planListing([type('A'), type('B', { childTypes: ['C'] })], null);
  const among = types.filter(({ metadataType }) => asked.includes(metadataType));
  expect(typeOfListed({ type: named, fileName }, among)?.metadataType).toBe(expected);
});

test('1970 is no date, and managed or child components are indexed only', () => {
  const { types } = planListing([type('A'), type('B', { childTypes: ['C'] })], null);
  const listed = {
    type: 'A',
    fullName: 'x',
    fileName: null,
    id: null,
    createdAt: null,
    createdByName: null,
    lastModifiedAt: '1970-01-01T00:00:00.000Z',
    lastModifiedByName: null,
    lastModifiedById: null,
    manageableState: null as string | null,
    namespacePrefix: '',
  };
  const [a, , c] = types;
  if (!a || !c) throw new Error('types are missing');
  const indexed = indexedComponent(listed, a, new Set());
  expect(indexed).toMatchObject({ fileName: 'a/x.x', lastModifiedAt: null, namespacePrefix: null, isIndexOnly: false });
  expect(indexedComponent({ ...listed, manageableState: 'installed' }, a, new Set()).isIndexOnly).toBe(true);
  expect(indexedComponent(listed, a, new Set(['A'])).isIndexOnly).toBe(true);
  expect(indexedComponent(listed, c, new Set())).toMatchObject({ isIndexOnly: true, parentType: 'B' });
});

test('replies say whether there is anything, whether it is being read, and why that failed', () => {
  const open = { id: 'job', step: 'Listing', message: null };
  const failed = { status: 'failed' as const, message: 'away' };
  expect(readState({ open: undefined, ended: undefined }, false)).toEqual({
    status: 'pending',
    jobId: null,
    message: null,
  });
  expect(readState({ open, ended: undefined }, false)).toEqual({ status: 'pending', jobId: 'job', message: 'Listing' });
  expect(readState({ open, ended: undefined }, true)).toEqual({ status: 'available', jobId: 'job', message: null });
  expect(readState({ open: undefined, ended: failed }, true)).toEqual({
    status: 'error',
    jobId: null,
    message: 'away',
  });
});
