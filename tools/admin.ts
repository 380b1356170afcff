import { adminCommand } from './admin-command.ts';
import { runCommand } from './operator-error.ts';

await runCommand(adminCommand);
