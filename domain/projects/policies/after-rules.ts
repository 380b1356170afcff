import { didYouMean } from '../../kernel/text/suggestion-rules.ts';

/** An environment and those in which a release must have been deployed before it goes there. */
export interface Ordered {
  name: string;
  promotion?: { after?: string[] | undefined } | null | undefined;
}

const afterOf = ({ promotion }: Ordered): readonly string[] => promotion?.after ?? [];

/**
 * Why an environment cannot have its `after` among those of its project; undefined: it can.
 * @param others all environments of the project but itself.
 */
export function problemOfAfter(environment: Ordered, others: readonly Ordered[]): string | undefined {
  const byName = new Map([...others, environment].map((each) => [each.name, each]));
  const unknown = afterOf(environment).find((name) => !byName.has(name));
  if (unknown !== undefined) {
    const known = others.map(({ name }) => name);
    return `${unknown} is not an environment of the project${didYouMean(unknown, known)}`;
  }
  const seen = new Set<string>();
  const open = [...afterOf(environment)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === environment.name) return 'a release would have to be deployed here before it goes here';
    const found = byName.get(name);
    if (!found || seen.has(name)) continue;
    seen.add(name);
    open.push(...afterOf(found));
  }
  return undefined;
}

/** Names of the environments that take a release only after it was in this one. */
export const followersOf = (name: string, others: readonly Ordered[]): string[] =>
  others.filter((each) => afterOf(each).includes(name)).map((each) => each.name);
