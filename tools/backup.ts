import { backupCommand } from './backup/backup-command.ts';
import { runCommand } from './operator-error.ts';

await runCommand(backupCommand);
