const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
/** XML 1.0, section 2.2, without lone surrogates and control characters other than white space. */
const NOT_XML = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu;

/** Text for content and attributes of XML. What XML cannot hold becomes U+FFFD, so that it matches nothing. */
export const xmlText = (text: string): string =>
  text.replace(NOT_XML, '\ufffd').replace(/[&<>"']/g, (character) => REFERENCES[character] ?? character);
