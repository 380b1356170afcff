import { type AnyResult, dataOf, type DataOf, ProblemError } from '@quayside/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';

export interface Acting<Input, Data> {
  act: (input: Input) => void;
  isActing: boolean;
  /** Why the last one was refused or failed. */
  problem: ProblemError | undefined;
  data: Data | undefined;
  reset: () => void;
}

/**
 * Something that a person does. Afterwards all that is shown is asked again, whatever came of it: a refusal often says that
 * what is shown was not true any more.
 */
export function useAct<Input, Result extends AnyResult>(
  operation: (input: Input) => Promise<Result>,
  onDone?: (data: DataOf<Result>, input: Input) => void,
): Acting<Input, DataOf<Result>> {
  const queries = useQueryClient();
  const { mutate, isPending, error, data, reset } = useMutation({
    mutationFn: (input: Input) => dataOf(operation(input)),
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries(),
  });
  const problem = error instanceof ProblemError ? error : undefined;
  return { act: mutate, isActing: isPending, problem, data, reset };
}
