import { createSocketSlots, takeSocket } from '../../../api/http/sockets/socket-slots.ts';

test('one tenant takes half of the slots of a process, and others have theirs', () => {
  const slots = createSocketSlots();
  const fill = (tenantId: string) => {
    const leaves: (() => void)[] = [];
    for (;;)
      try {
        leaves.push(takeSocket(slots, tenantId));
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
