import { onlineManager, type QueryClient, QueryObserver } from '@tanstack/react-query';
import { ask, type AskMeta, createQueries } from '../../../console/kernel/data/ask.ts';

const never = () => new Promise<never>(() => undefined);
const response = new Response();
const made: QueryClient[] = [];

/** Its timers would keep the process of the tests. */
function queriesOfTest(): QueryClient {
  const queries = createQueries({});
  made.push(queries);
  return queries;
}
afterEach(() => {
  for (const queries of made.splice(0)) queries.clear();
});

/** What is shown in a place that was answered for one thing, and asks for another one. */
function shownOfNext(meta: AskMeta) {
  const queries = queriesOfTest();
  queries.setQueryData(['thing', 'a'], { name: 'a' });
  const observer = new QueryObserver(queries, ask(['thing', 'a'], never, meta));
  const leave = observer.subscribe(() => undefined);
  observer.setOptions(ask(['thing', 'b'], never, meta));
  const { data, isPlaceholderData } = observer.getCurrentResult();
  leave();
  return { data, isPlaceholderData };
}

test.each([
  [{}, false],
  [{ isList: true }, true],
  [{ isList: true, keepsBefore: false }, false],
  [{ keepsBefore: true }, true],
])('what %p shows of another question: %p', (meta, isKept) =>
  expect(shownOfNext(meta)).toEqual({ data: isKept ? { name: 'a' } : undefined, isPlaceholderData: isKept }),
);

describe('where the browser says that it is offline', () => {
  beforeAll(() => onlineManager.setOnline(false));
  afterAll(() => onlineManager.setOnline(true));

  test('questions are asked all the same', async () => {
    const answer = { data: { name: 'a' }, response };
    expect(await queriesOfTest().fetchQuery(ask(['thing'], () => Promise.resolve(answer)))).toEqual({ name: 'a' });
  });

  test('an action fails at once, and is not done later', async () => {
    const queries = queriesOfTest();
    const acting = queries.getMutationCache().build(queries, { mutationFn: () => Promise.reject(new Error('away')) });
    await expect(acting.execute(undefined)).rejects.toThrow('away');
  });
});
