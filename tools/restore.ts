import { restoreCommand } from './backup/restore-command.ts';
import { runCommand } from './operator-error.ts';

await runCommand(restoreCommand);
