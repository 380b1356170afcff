import { MOVES_MAX, statesOf, type StoredMove, ticketIn } from '../../../../domain/delivery/flows/run-move-rules.ts';

const at = (minute: number) => `2026-03-02 09:${String(minute).padStart(2, '0')}:00+00`;
const move = (from: StoredMove['from'], to: StoredMove['to'], minute: number, detail: string | null = null) => ({
  from,
  to,
  at: at(minute),
  detail,
});
const run = {
  status: 'running' as const,
  hasWorkflow: true,
  createdAt: at(0),
  endedAt: null,
  waitsFor: null,
  moves: [] as StoredMove[] | null,
};

test('the states of a run follow each other, each with what it waited for', () => {
  const moves = [
    move('dispatched', 'waiting_approval', 1),
    move('waiting_approval', 'waiting_window', 2),
    move('waiting_window', 'running', 3, 'uat is frozen'),
  ];
  expect(statesOf({ ...run, moves, waitsFor: 'another run' })).toEqual([
    { state: 'dispatched', since: at(0), until: at(1), detail: null },
    { state: 'waiting_approval', since: at(1), until: at(2), detail: null },
    { state: 'waiting_window', since: at(2), until: at(3), detail: 'uat is frozen' },
    { state: 'running', since: at(3), until: null, detail: 'another run' },
  ]);
  const ended = [...moves, move('running', 'failed', 4)];
  expect(statesOf({ ...run, status: 'failed', endedAt: at(4), moves: ended }).at(-1)).toEqual({
    state: 'failed',
    since: at(4),
    until: null,
    detail: null,
  });
});

test('a run that was accepted before moves were kept shows what it is, and not since when', () => {
  expect(statesOf({ ...run, moves: null })).toEqual([{ state: 'running', since: null, until: null, detail: null }]);
  expect(statesOf({ ...run, status: 'succeeded', endedAt: at(9), moves: null })).toEqual([
    { state: 'succeeded', since: at(9), until: null, detail: null },
  ]);
  expect(statesOf({ ...run, status: 'dispatched', moves: null })[0]?.since).toBe(at(0));
});

test('a move that was not kept leaves a beginning unknown', () => {
  const gap = [move('dispatched', 'waiting_approval', 1), move('waiting_lock', 'running', 3)];
  expect(statesOf({ ...run, moves: gap }).map(({ since }) => since)).toEqual([at(0), null, at(3)]);
  expect(statesOf({ ...run, moves: [] })[0]?.since).toBeNull();
  expect(statesOf({ ...run, status: 'waiting_lock', moves: gap }).at(-1)?.since).toBeNull();
  const full = Array.from({ length: MOVES_MAX }, () => move('dispatched', 'running', 2));
  expect(statesOf({ ...run, moves: full })[0]?.since).toBeNull();
});

test('a run of an external worker is in the state in which it was registered since then', () => {
  expect(statesOf({ ...run, hasWorkflow: false })[0]?.since).toBe(at(0));
});

test('a ticket is that for which the run waited in the state', () => {
  const iso = (minute: number) => `2026-03-02T09:${String(minute).padStart(2, '0')}:00.000Z`;
  const ticket = (id: string, from: number, held: number | null, ended: number | null) => ({
    id,
    createdAt: iso(from),
    heldAt: held === null ? null : iso(held),
    endedAt: ended === null ? null : iso(ended),
  });
  const tickets = [ticket('before', 0, null, 2), ticket('first', 4, 6, 9), ticket('second', 6, null, null)];
  expect(ticketIn({ since: iso(4), until: iso(5) }, tickets)?.id).toBe('first');
  expect(ticketIn({ since: iso(4), until: null }, tickets)?.id).toBe('second');
  expect(ticketIn({ since: iso(3), until: iso(3) }, tickets)).toBeUndefined();
  expect(ticketIn({ since: null, until: null }, tickets)).toBeUndefined();
});
