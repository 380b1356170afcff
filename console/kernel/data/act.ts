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

/** What went wrong as the service would say it, whatever it was. */
const problemOf = (error: Error): ProblemError =>
  error instanceof ProblemError
    ? error
    : new ProblemError({
        type: 'urn:quayside:problem:unexpected_reply',
        title: error.name,
        status: 0,
        code: 'unexpected_reply',
        detail: error.message,
        instance: '',
        requestId: '',
      });

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
  return { act: mutate, isActing: isPending, problem: error ? problemOf(error) : undefined, data, reset };
}
