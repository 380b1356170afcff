import { z } from 'zod';
import { mapOf, type TextRule, textUpTo } from '../../kernel/overrides/large-maps.ts';

/** A name as people write it. */
export const Name = z.string().trim().min(1).max(255);

const INPUT_NAME = /^\w{1,100}$/;
const inputName: TextRule = {
  schema: z.string().regex(INPUT_NAME),
  read: (value) => (typeof value === 'string' && INPUT_NAME.test(value) ? value : undefined),
};

/** A pipeline of the git host that executes a run. */
export const Pipeline = z.strictObject({
  id: Name.meta({
    description: 'host-a: file name or id of the workflow; host-b: id of the pipeline; host-c: any name, shown only',
  }),
  ref: Name.optional().meta({ description: 'Branch or tag; the default branch when absent' }),
  inputs: mapOf(inputName, textUpTo(65_535)).optional(),
  timeoutMinutes: z.int().min(1).max(1_440).optional().meta({ description: 'Default 60' }),
});
