import type { ChatPlatform } from '../../domain/people/chat/chat-platform.port.ts';
import { createSlackPlatform } from '../adapters/messages/slack-platform.ts';
import type { Base, Made } from '../base.ts';

export interface PeopleParts {
  chat: {
    platform: ChatPlatform;
    /** Root of its interface. */
    apiUrl: string;
  };
}

export function createPeopleParts({ config, outbound }: Pick<Base, 'config' | 'outbound'>): Made<PeopleParts> {
  const apiUrl = config.SLACK_API_URL;
  const platform = createSlackPlatform({ addresses: outbound, apiUrl });
  return { parts: { chat: { platform, apiUrl } }, close: platform.close };
}
