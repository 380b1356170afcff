import { type ChatMessage, context, message, section } from './message-rules.ts';

export type ChatCommand =
  | { name: 'help' }
  | { name: 'approvals' }
  | { name: 'where'; key: string; repositoryIdentifier: string | undefined }
  | { name: 'unknown'; problem: string };

/** Reads what follows `/quayside`. */
export function parseCommand(text: string): ChatCommand {
  const [name = '', ...rest] = text.trim().split(/\s+/);
  switch (name.toLowerCase()) {
    case '':
    case 'help':
      return { name: 'help' };
    case 'approvals':
      return { name: 'approvals' };
    case 'where': {
      const [key, repositoryIdentifier] = rest;
      if (key === undefined)
        return { name: 'unknown', problem: 'where needs the key of a work item: /quayside where SHOP-12' };
      return { name: 'where', key: key.slice(0, 255), repositoryIdentifier };
    }
    default:
      return { name: 'unknown', problem: `There is no command ${name.slice(0, 40)}; /quayside help lists them` };
  }
}

export const HELP: ChatMessage = message(
  'What /quayside can do',
  [
    section(
      [
        '`/quayside where KEY [owner/repo]` – which candidates and environments have a work item',
        '`/quayside approvals` – what waits for your approval',
        '`/quayside help` – this list',
      ].join('\n'),
    ),
  ],
  [context('Only you see the answers. You are known by the e-mail address of your Slack account.')],
  '',
);
