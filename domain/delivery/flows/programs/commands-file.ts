import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '../../../kernel/settings/config.ts';
import type { WantedExecutor } from '../../../projects/policies/executor-policy-rules.ts';
import { type ExecutorName, executorOf } from './executor-rules.ts';
import type { RunPayload } from '../flow-payloads.ts';
import { type FlowType, flowType } from '../flow-types.ts';

const CommandsFile = z.record(
  z.string(),
  z.strictObject({
    program: z.string().min(1),
    args: z.array(z.string()).default([]),
    timeoutSeconds: z.int().positive().max(86_400).default(3_600),
    env: z.record(z.string().regex(/^\w+$/), z.string()).default({}),
  }),
);

/** A program that the operator allows to execute a type of flow. */
export type Command = z.output<typeof CommandsFile>[string];

/** The operator's list: programs by type of flow. */
export type Commands = ReadonlyMap<string, Command>;

/** Reads the file that `COMMANDS_FILE` names; without one no command is allowed. Throws `ConfigError`. */
export function loadCommands(path: string | undefined): Commands {
  if (path === undefined) return new Map();
  const refuse = (reason: string) =>
    new ConfigError(`The file of the environment variable COMMANDS_FILE cannot be used: ${reason}.`);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const parsed = CommandsFile.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refuse(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const unknown = Object.keys(parsed.data).find((type) => !flowType(type));
  if (unknown !== undefined) throw refuse(`${unknown} is not a flow type`);
  return new Map(Object.entries(parsed.data));
}

/** The command that executes runs of a type; undefined: none does. */
export const commandOf = (commands: Commands, taskType: string): Command | undefined =>
  commands.get(taskType) ?? commands.get(flowType(taskType)?.commandOf ?? '');

/** What could execute a run here, and what its payload asks for. */
export interface MeansHere {
  hasPipeline: boolean;
  commands: Commands;
  wanted?: WantedExecutor | undefined;
}

/** What could execute a run of that payload here. */
export const meansOf = ({ pipeline, executor }: RunPayload, commands: Commands): MeansHere => ({
  hasPipeline: pipeline !== undefined,
  commands,
  wanted: executor,
});

/** What executes runs of a type here; undefined: nothing does. */
export const executorHere = (
  { id, own }: Pick<FlowType, 'id' | 'own'>,
  { commands, ...means }: MeansHere,
): ExecutorName | undefined => executorOf({ own }, { ...means, hasCommand: commandOf(commands, id) !== undefined });

const PLACEHOLDER = /\{payload\.([\w.-]+)\}/g;

/** An argument of a command that its payload cannot fill; the message is shown on the run. */
export class UnfilledArgumentError extends Error {}

/**
 * The argument vector of a run: each `{payload.path}` is replaced inside its one argument. Throws
 * `UnfilledArgumentError` for a member that is missing or no scalar, and where a value would become an option.
 */
export const fillArguments = (args: readonly string[], payload: Record<string, unknown>): string[] =>
  args.map((arg) =>
    arg.replace(PLACEHOLDER, (placeholder, path: string) => {
      const value = path.split('.').reduce<unknown>((at, name) => memberOf(at, name), payload);
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw new UnfilledArgumentError(`The payload has no ${path} for the command`);
      }
      if (arg.startsWith(placeholder) && String(value).startsWith('-')) {
        throw new UnfilledArgumentError(`${path} must not begin with -`);
      }
      return String(value);
    }),
  );

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
