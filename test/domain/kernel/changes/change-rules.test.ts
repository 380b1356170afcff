import * as fc from 'fast-check';
import { ChangeRing } from '../../../../domain/kernel/changes/change-ring.ts';
import {
  type Change,
  keyOfChange,
  noticeOf,
  noticeText,
  positionOf,
  positionText,
} from '../../../../domain/kernel/changes/change-rules.ts';
import { TOPICS } from '../../../../domain/kernel/changes/topic-rules.ts';
import { newId } from '../../../../domain/kernel/shared/ids.ts';

const change = (id: string | null, repositoryIdentifier: string | null = null): Change => ({
  topic: 'flow_run',
  id,
  repositoryIdentifier,
});
const anyChange = fc.record({
  topic: fc.constantFrom(...TOPICS),
  id: fc.option(fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' })),
  repositoryIdentifier: fc.option(fc.constantFrom('acme/a', 'acme/b', '__proto__/x')),
});
const anyNotice = fc.record({
  changes: fc
    .array(fc.tuple(fc.uuid(), fc.uniqueArray(anyChange, { maxLength: 40, selector: keyOfChange })), { maxLength: 8 })
    .map((tenants) => new Map(tenants)),
  again: fc.oneof(fc.constant('all' as const), fc.array(fc.uuid(), { maxLength: 5 })),
});
const sorted = (changes: readonly Change[] = []) => changes.map(keyOfChange).toSorted();

test('a notice fits, and names each tenant with all that changed there, or says that it must ask again', () => {
  fc.assert(
    fc.property(anyNotice, fc.integer({ min: 200, max: 7_000 }), (notice, maxBytes) => {
      const text = noticeText(notice, maxBytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      const read = noticeOf(text);
      for (const [tenantId, changes] of notice.changes) {
        const isToldAgain = read?.again === 'all' || read?.again.includes(tenantId);
        if (!isToldAgain) expect(sorted(read?.changes.get(tenantId))).toEqual(sorted(changes));
        else expect(read?.changes.has(tenantId)).toBe(false);
      }
      if (notice.again === 'all') expect(read?.again).toBe('all');
      else if (read?.again !== 'all') expect(read?.again).toEqual(expect.arrayContaining(notice.again));
    }),
  );
});

test('what has room is named, and the tenants with the most changes are told first to ask again', () => {
  const [small, large] = [newId(), newId()];
  const many = Array.from({ length: 300 }, () => change(newId()));
  const notice = { changes: new Map([[large, many] as const, [small, [change('one', 'acme/a')]] as const]), again: [] };
  const read = noticeOf(noticeText(notice, 7_000));
  expect(read?.changes.get(small)).toEqual([change('one', 'acme/a')]);
  expect(read?.again).toEqual([large]);
});

test('a text that is no notice is none', () => {
  for (const text of ['', 'null', '{"t":1}', '{"t":{"x":{"y":{"z":1}}},"a":[]}'])
    expect(noticeOf(text)).toBeUndefined();
});

test('positions are read as they are written', () => {
  expect(positionOf(positionText({ epoch: '0af3', n: 12 }))).toEqual({ epoch: '0af3', n: 12 });
  for (const text of ['', '12', 'a-', 'a-1.5', 'A-1', 'a-1-1', 'a-9999999999999999'])
    expect(positionOf(text)).toBeUndefined();
});

const all = () => true;

test('a ring goes on from any position that it remembers, and from no other', () => {
  const ring = new ChangeRing(5);
  const begin = ring.end;
  ring.add(['a', 'b', 'c'].map((id) => change(id)));
  expect(ring.after(begin.n, 100, all)).toEqual({ changes: ['a', 'b', 'c'].map((id) => change(id)), upTo: 3 });
  const middle = ring.end;
  ring.add(['d', 'e', 'f'].map((id) => change(id)));
  expect(ring.whyLost(begin)).toBe('too_old');
  expect(ring.whyLost(middle)).toBeUndefined();
  expect(ring.whyLost({ ...middle, n: 7 })).toBe('other_epoch');
  ring.interrupt();
  expect(ring.whyLost(middle)).toBe('other_epoch');
  expect(ring.whyLost(ring.end)).toBeUndefined();
});

test('pages name each thing once, and leave out nothing between them', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 });
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 5 }), (numbers, limit) => {
      const ring = new ChangeRing(60);
      ring.add(numbers.map((n) => change(String(n))));
      const isWanted = ({ id }: Change) => Number(id) % 3 !== 0;
      const named: string[] = [];
      let at = 0;
      while (at < ring.end.n) {
        const { changes, upTo } = ring.after(at, limit, isWanted);
        expect(changes.length).toBeLessThanOrEqual(limit);
        expect(new Set(changes.map(keyOfChange)).size).toBe(changes.length);
        // Whoever comes back with this id has heard of everything up to here.
        const until = numbers
          .slice(at, upTo)
          .map(String)
          .filter((id) => isWanted(change(id)));
        expect(new Set(changes.map(({ id }) => id))).toEqual(new Set(until));
        named.push(...changes.map(({ id }) => id ?? ''));
        expect(upTo).toBeGreaterThan(at);
        at = upTo;
      }
      expect(new Set(named)).toEqual(new Set(numbers.map(String).filter((id) => isWanted(change(id)))));
    }),
  );
});
