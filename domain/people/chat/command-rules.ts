import { type ChatMessage, context, message, section } from './message-rules.ts';

export type ChatCommand =
  | { name: 'help' }
  | { name: 'approvals' }
  | { name: 'extend'; hours: number | undefined; of: string | undefined }
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
    case 'env':
      return parseExtend(rest);
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

function parseExtend([word = '', ...rest]: readonly string[]): ChatCommand {
  if (word.toLowerCase() !== 'extend')
    return { name: 'unknown', problem: 'What can be done with env is: /quayside env extend' };
  const hours = rest.find((each) => /^\d{1,4}$/.test(each));
  const of = rest.find((each) => each !== hours);
  if (hours !== undefined && Number(hours) === 0)
    return { name: 'unknown', problem: 'A lease goes on for an hour or more' };
  return { name: 'extend', hours: hours === undefined ? undefined : Number(hours), of: of?.slice(0, 255) };
}

export const HELP: ChatMessage = message(
  'What /quayside can do',
  [
    section(
      [
        '`/quayside where KEY [owner/repo]` – which candidates and environments have a work item',
        '`/quayside approvals` – what waits for your approval',
        '`/quayside env extend [HOURS] [ORG]` – keep your review environment for this many hours from now (default: 24)',
        '`/quayside help` – this list',
      ].join('\n'),
    ),
  ],
  [context('Only you see the answers. You are known by the e-mail address of your Slack account.')],
  '',
);
