import { z } from 'zod';

/** A further host of a scenario. */
export interface PrefixedUpstream {
  /** Beginning of the path behind the key of the workspace: `/instance`. */
  prefix: string;
  upstream: string;
}

/** The hosts that a scenario stands for. */
export interface ScenarioUpstreams {
  /** Upstream of paths that begin with no prefix; null: there is none. */
  upstream: string | null;
  upstreams: readonly PrefixedUpstream[];
}

const UPSTREAMS_MAX = 20;

export const UpstreamIn = z.url({ protocol: /^https?$/ }).max(2_000);

export const UpstreamsIn = z
  .array(
    z.strictObject({
      prefix: z
        .string()
        .regex(/^(\/[\w-][\w.-]{0,99}){1,5}$/, 'must be a path like /instance')
        .meta({ example: '/instance' }),
      upstream: UpstreamIn.meta({ example: 'https://acme.my.example.com' }),
    }),
  )
  .max(UPSTREAMS_MAX)
  .refine((all) => new Set(all.map(({ prefix }) => prefix)).size === all.length, 'must have each prefix once');

const byLength = <T>(items: readonly T[], text: (item: T) => string): T[] =>
  items.toSorted((a, b) => text(b).length - text(a).length);

/** Where a request goes: that of the longest prefix, without it. Undefined: no host is known for it. */
export function upstreamOf(
  { upstream, upstreams }: ScenarioUpstreams,
  target: string,
): { upstream: string; target: string } | undefined {
  const found = byLength(upstreams, ({ prefix }) => prefix).find(
    ({ prefix }) => target.startsWith(prefix) && /^([/?]|$)/.test(target.slice(prefix.length)),
  );
  if (!found) return upstream === null ? undefined : { upstream, target };
  const rest = target.slice(found.prefix.length);
  return { upstream: found.upstream, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Addresses in answers and what clients are given instead, the longest first. @param mockUrl of the workspace. */
export const linksOf = (
  { upstream, upstreams }: ScenarioUpstreams,
  mockUrl: string,
): { upstream: string; baseUrl: string }[] =>
  byLength(
    [
      ...upstreams.map((one) => ({ upstream: one.upstream, baseUrl: mockUrl + one.prefix })),
      ...(upstream === null ? [] : [{ upstream, baseUrl: mockUrl }]),
    ],
    (link) => link.upstream,
  );
