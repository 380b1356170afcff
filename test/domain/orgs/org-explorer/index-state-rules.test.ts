import {
  type IndexFacts,
  indexState,
  knowledgeOf,
  leftOutTypes,
  stateOfAll,
} from '../../../../domain/orgs/org-explorer/index-state-rules.ts';

const type = (metadataType: string, more: Partial<IndexFacts['types'][number]> = {}) => ({
  metadataType,
  componentCount: 1,
  syncedAt: '2026-03-02T10:00:00.000Z' as string | null,
  error: null as string | null,
  isDescribed: true,
  ...more,
});
const UNREAD = { componentCount: 0, syncedAt: null };
const OPEN = { id: 'job', step: 'Listing components', message: null };
const index = (more: Partial<IndexFacts> = {}): IndexFacts => ({
  open: undefined,
  ended: { status: 'succeeded', message: null },
  failedTypes: [],
  wasReadWhole: true,
  types: [type('ApexClass'), type('Layout', { syncedAt: '2026-03-02T09:00:00.000Z' })],
  hasDue: false,
  ...more,
});
const NEVER = index({ ended: undefined, wasReadWhole: false, types: [] });
const HALF = index({
  ended: undefined,
  open: OPEN,
  wasReadWhole: false,
  types: [type('ApexClass'), type('Layout', UNREAD)],
});
const FAILED_TYPE = index({ types: [type('ApexClass'), type('Layout', { error: 'INVALID_TYPE' })] });

test('an index that was read whole is available, and as old as the type that was listed first', () => {
  expect(indexState(index())).toEqual({
    status: 'available',
    jobId: null,
    message: null,
    syncedAt: '2026-03-02T09:00:00.000Z',
    isComplete: true,
    failedTypes: [],
    unreadTypes: [],
  });
  expect(indexState(index({ open: OPEN }))).toMatchObject({ status: 'available', jobId: 'job', isComplete: true });
  expect(indexState(index({ hasDue: true }))).toMatchObject({ status: 'available', isComplete: false });
});

test.each([
  ['nobody has read', NEVER, undefined, 'pending'],
  ['is being read for the first time', HALF, undefined, 'pending'],
  ['is being read, of a type that has not been listed', HALF, 'Layout', 'pending'],
  ['is being read, of a type that has been listed', HALF, 'ApexClass', 'available'],
  ['could not be read', index({ ended: { status: 'failed', message: 'away' } }), undefined, 'error'],
  ['has a type that could not be listed', FAILED_TYPE, undefined, 'available'],
  ['is asked for the type that could not be listed', FAILED_TYPE, 'Layout', 'error'],
  ['does not have the type', index(), 'Flow', 'available'],
  ['has a type that platforms do not list', index(), 'StandardValueSet', 'pending'],
  ['was reported in part', index({ wasReadWhole: false }), 'Flow', 'pending'],
] as const)('an index that %s', (_, facts, metadataType, status) => {
  expect(indexState(facts, metadataType).status).toBe(status);
});

test('only what was read completely is complete', () => {
  for (const facts of [NEVER, HALF, FAILED_TYPE, index({ wasReadWhole: false })])
    expect(indexState(facts).isComplete).toBe(false);
  expect(indexState(HALF)).toMatchObject({ unreadTypes: ['Layout'], message: 'Listing components' });
  expect(indexState(FAILED_TYPE)).toMatchObject({ failedTypes: [{ metadataType: 'Layout', error: 'INVALID_TYPE' }] });
});

test('a type that failed in the last sync and was never listed is not known', () => {
  const facts = index({ types: [], failedTypes: [{ metadataType: 'Flow', error: 'no' }] });
  expect([knowledgeOf(facts, 'Flow'), knowledgeOf(facts, 'ApexClass')]).toEqual(['failed', 'read']);
});

test('types that a side does not know are left out of a difference', () => {
  const reported = index({ wasReadWhole: false, types: [type('ApexClass'), type('Flow')] });
  expect(leftOutTypes({ left: FAILED_TYPE, right: reported })).toEqual([
    { metadataType: 'Layout', side: 'left', reason: 'failed' },
    { metadataType: 'Layout', side: 'right', reason: 'unread' },
  ]);
  expect(leftOutTypes({ left: index(), right: FAILED_TYPE }, 'ApexClass')).toEqual([]);
});

test('what rests on several orgs is as good as the worst of them', () => {
  const of = (orgUsername: string, facts: IndexFacts) => ({ orgUsername, ...indexState(facts) });
  const failed = index({ ended: { status: 'failed', message: 'away' } });
  expect(stateOfAll([of('a', index()), of('b', index())])).toEqual({ status: 'available', message: null });
  expect(stateOfAll([of('a', NEVER), of('b', failed)])).toEqual({
    status: 'error',
    message: 'a: its metadata have not been read; b: away',
  });
});
