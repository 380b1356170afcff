import { parseArgs } from 'node:util';
import { newPassword } from '../domain/kernel/encryption/secrets.ts';
import { connectOrm } from '../domain/orm.ts';
import { readEnvironment } from '../domain/kernel/settings/config.ts';
import { generateKeys } from '../domain/kernel/encryption/keys.ts';
import { createProvisioning, type Provisioning } from '../domain/identity/users/provisioning.mutations.ts';
import { asOperatorError, operatorAccess, operatorDatabaseUrl } from './operator-database.ts';
import { type CommandContext, OperatorError } from './operator-error.ts';

type Options = Record<string, string | undefined>;

interface Command {
  required: readonly string[];
  optional?: readonly string[];
  run: (provisioning: Provisioning, options: Options, context: CommandContext) => Promise<unknown>;
}

const TOKEN_DAYS = 365;

/** The password of OWNER_PASSWORD, which is not printed, or a random one, which is printed this once. */
const password = ({ env }: CommandContext): { password: string; shown: { password?: string } } => {
  const given = readEnvironment(env).OWNER_PASSWORD;
  if (given) return { password: given, shown: {} };
  const made = newPassword();
  return { password: made, shown: { password: made } };
};

const COMMANDS: Record<string, Command> = {
  'create-tenant': {
    required: ['slug', 'owner-email'],
    async run(provisioning, { slug = '', 'owner-email': ownerEmail = '' }, context) {
      if (!/^[^\s@]+@[^\s@]+$/.test(ownerEmail))
        throw new OperatorError(`--owner-email ${ownerEmail} is not an e-mail address.`);
      const { password: chosen, shown } = password(context);
      const { isKnownUser, ...tenant } = await provisioning.createTenant({ slug, ownerEmail, password: chosen });
      if (isKnownUser) context.warn(`${tenant.ownerEmail} has an account already and keeps its password.`);
      return { ...tenant, ...(!isKnownUser && shown) };
    },
  },
  'list-tenants': {
    required: [],
    async run(provisioning) {
      const tenants = await provisioning.listTenants();
      return tenants.map((tenant) => ({ ...tenant, createdAt: new Date(tenant.createdAt).toISOString() }));
    },
  },
  'reset-password': {
    required: ['tenant', 'email'],
    async run(provisioning, { tenant = '', email = '' }, context) {
      const { password: chosen, shown } = password(context);
      await provisioning.resetPassword({ tenant, email, password: chosen });
      return { tenant, email: email.toLowerCase(), ...shown };
    },
  },
  'create-application-token': {
    required: ['tenant', 'name'],
    optional: ['expires-in'],
    async run(provisioning, { tenant = '', name = '', 'expires-in': days = String(TOKEN_DAYS) }) {
      const expiresInDays = Number(days);
      if (!Number.isInteger(expiresInDays) || expiresInDays < 1 || expiresInDays > 3650) {
        throw new OperatorError(`--expires-in ${days} must be a number of days from 1 to 3650.`);
      }
      const { id, expiresAt, token } = await provisioning.createToken({ tenant, name, expiresInDays });
      return { tenant, id, name, expiresAt: new Date(expiresAt).toISOString(), token };
    },
  },
};

const USAGE = `Usage: npm run admin -- COMMAND
  create-tenant --slug acme --owner-email a@example.com
  list-tenants
  reset-password --tenant acme --email a@example.com
  create-application-token --tenant acme --name ci [--expires-in DAYS]
  create-keys
Passwords are taken from OWNER_PASSWORD, else made and printed once. The database is that of DATABASE_URL, else the
running one of DATA_DIR.`;

function optionsOf(name: string, { required, optional = [] }: Command, args: readonly string[]): Options {
  const names = [...required, ...optional];
  let values: Options;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: Object.fromEntries(names.map((option) => [option, { type: 'string' as const }])),
    }) as {
      values: Options;
    });
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ');
    throw new OperatorError(`${name}: ${sentence}.`);
  }
  const missing = required.find((option) => !values[option]);
  if (missing !== undefined) throw new OperatorError(`${name} needs --${missing}.`);
  return values;
}

async function run(command: Command, options: Options, context: CommandContext): Promise<unknown> {
  const { env } = context;
  const url = operatorDatabaseUrl(env);
  const orm = connectOrm(operatorAccess(url, env));
  try {
    return await command.run(createProvisioning(orm), options, context);
  } catch (error) {
    throw asOperatorError(error, url, env);
  } finally {
    await orm.close(true);
  }
}

/** `npm run admin`: what only an operator may do, on the database itself. */
export async function adminCommand([name = '', ...args]: readonly string[], context: CommandContext): Promise<unknown> {
  if (name === 'create-keys') {
    const { encryptionKeys, tokenKeys } = generateKeys();
    return { ENCRYPTION_KEYS: encryptionKeys, TOKEN_KEYS: tokenKeys };
  }
  if (name === 'help' || name === '--help') return USAGE;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command)
    throw new OperatorError(
      `${name ? `There is no command ${name}` : 'A command is missing'}; npm run admin -- help lists them.`,
    );
  return run(command, optionsOf(name, command, args), context);
}
