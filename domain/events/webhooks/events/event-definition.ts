import { z } from 'zod';
import { anyText, mapOf, valueOf } from '../../../kernel/overrides/large-maps.ts';

/** An event as subscribers see it; the emitter's types, the catalog and the samples are derived from it. */
export interface EventDefinition<Data extends z.ZodObject = z.ZodObject> {
  description: string;
  data: Data;
}

export const defineEvent = <Data extends z.ZodObject>(description: string, data: Data): EventDefinition<Data> => ({
  description,
  data,
});

/** The same data for several events, each with a description of its own. */
export const defineEvents = <Name extends string, Data extends z.ZodObject>(
  data: Data,
  descriptions: Record<Name, string>,
): Record<Name, EventDefinition<Data>> =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([name, description]) => [name, defineEvent(description, data)]),
  ) as Record<Name, EventDefinition<Data>>;

export const text = (description: string, example: string) => z.string().meta({ description, example });
export const number = (description: string, example: number) => z.number().meta({ description, example });
export const flag = (description: string, example: boolean) => z.boolean().meta({ description, example });
export const texts = (description: string, example: string[]) => z.array(z.string()).meta({ description, example });
/** Names mapped to versions or to other texts. */
export const textMap = (description: string, example: Record<string, string>) =>
  mapOf(anyText, anyText).meta({ description, example });
/** Names mapped to numbers. */
export const numberMap = (description: string, example: Record<string, number>) =>
  mapOf(anyText, valueOf(z.number())).meta({ description, example });
/** ISO 8601, UTC, milliseconds. */
export const dateTime = (description: string) => z.string().meta({ description, example: '2026-03-02T09:30:00.000Z' });
export const id = (description: string) =>
  z.string().meta({ description, example: '0195a3c1-7b1e-7c40-9d3e-5f1c2a9b8e10' });

export const repositoryIdentifier = text(
  'Repository, `owner/repo` or `organization/project/repository`',
  'acme/storefront',
);
export const domain = text('Domain of the repository', 'sales');
export const releaseName = text('Name of the release', '2026.03');
export const branch = text('Branch', 'release/2026.03');
export const commitSha = text('Commit', '9fceb02d0ae598e95dc970b74767f19372d61af8');
export const environmentName = text('Name of the environment', 'production');
export const reason = text('Reason', 'superseded by a newer release');
export const byWhom = text('E-mail of the person, or name of the token, who did it', 'dana@example.com');
export const packages = textMap('Versions by package name', { 'core-objects': '1.4.0-7', 'sales-ui': '2.0.1-3' });
