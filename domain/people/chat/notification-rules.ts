import { isObject } from '../../kernel/json/json-rules.ts';
import { UntrustedJson } from '../../kernel/json/untrusted-json-rules.ts';
import { EVENT_FAMILIES } from './event-family-rules.ts';
import {
  type ChatBlock,
  type ChatMessage,
  context,
  escaped,
  facts,
  header,
  isShortened,
  message,
} from './message-rules.ts';
import { readerLink } from './reader-link-rules.ts';

const MEMBERS_SHOWN = 10;

/** `deployment.failed`: `Deployment failed`. */
const wordsOf = (event: string): string => {
  const words = event.replaceAll(/[._-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The message about an event. Whatever its data holds, mentions and markup in it are dead. */
export function notification(event: string, data: unknown, publicUrl: string): ChatMessage {
  const [group = ''] = event.split('.', 1);
  const given = new UntrustedJson(data);
  const family = Object.hasOwn(EVENT_FAMILIES, group) ? EVENT_FAMILIES[group] : undefined;
  if (!family) return unknownEvent(event, data);
  const subject = family.subject.flatMap((member) => given.at(member).text(200) ?? []).join(' · ');
  const title = subject === '' ? wordsOf(event) : `${wordsOf(event)}: ${subject}`;
  const values = Object.fromEntries(
    Object.entries(family.facts).map(([name, member]) => [name, given.at(member).text()]),
  );
  const ending = [isShortened(title, values) ? MORE : '', readerLink(family.links ?? [], data, publicUrl)];
  return messageOf(title, facts(values), ending);
}

const MORE = 'There is more than fits here.';

/** @param ending texts of which some may be empty. */
function messageOf(title: string, blocks: readonly ChatBlock[], ending: readonly string[]): ChatMessage {
  const shown = ending.filter((text) => text !== '').join(' · ');
  return message(escaped(title, 1_000), [header(title), ...blocks], shown === '' ? [] : [context(shown)], MORE);
}

/** An event that clients queue: its first members that are texts or numbers. */
function unknownEvent(event: string, data: unknown): ChatMessage {
  const title = wordsOf(event);
  const members = isObject(data) ? Object.keys(data) : [];
  const given = new UntrustedJson(data);
  const values = Object.fromEntries(
    members.slice(0, MEMBERS_SHOWN).map((name) => [escaped(name, 60), given.at(name).text()]),
  );
  const hasMore = members.length > MEMBERS_SHOWN || isShortened(title, values);
  return messageOf(title, facts(values), [hasMore ? MORE : '']);
}
