import type { Json } from './client.ts';

/** Payloads in the text of an issue of host-a, as whoever automates it finds them: in comments, whatever is around them. */
export const payloadsInMarkdown = (text: string): Json[] =>
  [...text.matchAll(/<!--([\s\S]*?)-->/g)]
    .map(([, comment = '']) => /^\s*quayside:payload\s([\s\S]*)$/.exec(comment)?.[1])
    .filter((found) => found !== undefined)
    .map((found) => JSON.parse(found));

/** Payloads in the description of a work item of host-b: in sections to unfold. */
export const payloadsInHtml = (html: string): Json[] =>
  [...html.matchAll(/<details>\s*<summary>Automation payload<\/summary>\s*<pre>([\s\S]*?)<\/pre>\s*<\/details>/g)].map(
    ([, found = '']) => JSON.parse(found),
  );

/** Payloads in a document of tracker-a: blocks of code in sections to unfold. */
export function payloadsInDocument(node: Json): Json[] {
  if (node.type === 'expand' && node.attrs?.title === 'Automation payload')
    return node.content.map((block: Json) => JSON.parse(block.content.map(({ text }: Json) => text).join('')));
  return (node.content ?? []).flatMap(payloadsInDocument);
}
