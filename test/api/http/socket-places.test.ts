import { createSocketPlaces } from '../../../api/http/sockets/socket-places.ts';

test('one tenant takes half of the places of a process, and others have theirs', () => {
  const places = createSocketPlaces();
  const fill = (tenantId: string) => {
    const leaves: (() => void)[] = [];
    for (;;)
      try {
        leaves.push(places.take(tenantId));
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' });
        return leaves;
      }
  };
  const own = fill('a');
  expect(own).toHaveLength(100);
  expect(fill('b')).toHaveLength(50);
  expect(fill('c')).toHaveLength(25);
  expect(fill('a')).toHaveLength(0);
  for (const leave of own) {
    leave();
    leave();
  }
  expect(fill('d').length).toBeGreaterThan(50);
});
