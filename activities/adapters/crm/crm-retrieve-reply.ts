import { MalformedAnswer } from './crm-http.ts';

/** The platform packs at most 39 MB; base64 makes a third more of them, and the list of files comes on top. */
export const RETRIEVE_MAX_BYTES = 128 * 1_048_576;
/** No start tag of the archive is longer. */
const TAG_MAX = 64;
const START = /<(?:[A-Za-z_][\w.-]*:)?zipFile(?:\s*\/)?>/;

interface ReplyParts {
  /** Everything but the archive. */
  xml: (text: string) => void;
  /** The archive, decoded. */
  zip: (bytes: Buffer) => Promise<void>;
}

/**
 * Splits the reply of a retrieve as it arrives: the archive in its `zipFile` is base64 of up to 52 MB, which an XML parser
 * would keep as one text. Answers the bytes of the archive. Throws `MalformedAnswer`.
 */
export async function splitReply(body: AsyncIterable<Uint8Array>, { xml, zip }: ReplyParts): Promise<number> {
  const decoder = new TextDecoder();
  let isInZip = false;
  let hasZip = false;
  let rest = '';
  let sizeBytes = 0;

  const decode = async (text: string, isLast: boolean) => {
    const code = rest + text.replace(/\s+/g, '');
    const usable = isLast ? code.length : code.length - (code.length % 4);
    rest = code.slice(usable);
    const bytes = Buffer.from(code.slice(0, usable), 'base64');
    // What is not base64 is skipped by Node without a word, and leaves fewer bytes.
    if (bytes.length < Math.floor((usable * 3) / 4) - 2)
      throw new MalformedAnswer('ZIP_BASE64', 'The archive is not base64.');
    sizeBytes += bytes.length;
    if (bytes.length > 0) await zip(bytes);
  };

  let pending = '';
  const take = async (text: string) => {
    pending += text;
    while (pending !== '') {
      if (isInZip) {
        const end = pending.indexOf('<');
        await decode(end === -1 ? pending : pending.slice(0, end), end !== -1);
        pending = end === -1 ? '' : pending.slice(end);
        isInZip = end === -1;
        continue;
      }
      const start = START.exec(pending);
      if (!start) {
        // A start tag may be cut in two.
        const open = pending.lastIndexOf('<');
        const kept =
          open !== -1 && pending.length - open < TAG_MAX && !pending.includes('>', open) ? open : pending.length;
        xml(pending.slice(0, kept));
        pending = pending.slice(kept);
        return;
      }
      const after = start.index + start[0].length;
      xml(pending.slice(0, after));
      pending = pending.slice(after);
      if (start[0].endsWith('/>')) continue;
      if (hasZip) throw new MalformedAnswer('ZIP_TWICE', 'The reply has more than one archive.');
      isInZip = hasZip = true;
      rest = '';
    }
  };

  for await (const chunk of body) await take(decoder.decode(chunk, { stream: true }));
  if (pending !== '') xml(pending);
  return sizeBytes;
}
