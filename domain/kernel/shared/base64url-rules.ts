/**
 * The bytes of a text in base64url (RFC 4648, 5); undefined for another spelling of them. Decoders overlook white space,
 * padding, other characters and surplus bits: one value would have many spellings.
 */
export function exactBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
