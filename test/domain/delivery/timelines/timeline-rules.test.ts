import { rankOf, shownMove, TIMELINE_TYPES } from '../../../../domain/delivery/timelines/timeline-rules.ts';

const move = { type: 'status_changed' as const, status: 'finalized', detail: null };

test('a change of status is shown as what it was', () => {
  expect(shownMove(move)).toBe(move);
  expect(shownMove({ ...move, detail: '2026.04' })).toMatchObject({
    type: 'superseded',
    detail: 'Superseded by 2026.04',
  });
  expect(shownMove({ ...move, status: 'aborted' })).toMatchObject({ type: 'aborted', detail: null });
  const approval = { type: 'approval' as const, status: 'aborted', detail: 'no' };
  expect(shownMove(approval)).toBe(approval);
});

test('types have ranks that order as they do', () => {
  const ranks = TIMELINE_TYPES.map(rankOf);
  expect(ranks).toEqual(ranks.toSorted());
  expect(new Set(ranks).size).toBe(TIMELINE_TYPES.length);
});
