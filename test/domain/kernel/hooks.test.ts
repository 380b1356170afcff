import { handlersOf } from '../../../domain/kernel/hooks.ts';

test('handlers of a hook are called in the order of the areas; one that no area has has none', async () => {
  const called: string[] = [];
  const noting = (area: string) => ({ hooks: { approvalChanged: async () => void called.push(area) } });
  const handlers: Readonly<Record<string, readonly (() => Promise<void>)[]>> = handlersOf([
    noting('delivery'),
    {},
    noting('people'),
  ]) as never;
  for (const handle of handlers.approvalChanged ?? []) await handle();
  expect(called).toEqual(['delivery', 'people']);
  expect(handlers.runReached).toBeUndefined();
});
