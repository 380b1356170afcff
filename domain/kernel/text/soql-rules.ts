/**
 * A text literal of SOQL with its quotes: what stands in it can end neither the literal nor the query. Source: "Quoted
 * String Escape Sequences" of the vendor's SOQL reference.
 */
export const soqlText = (text: string): string =>
  `'${text
    .replace(/[\\']/g, (character) => `\\${character}`)
    .replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`;

/** A field or object name as a setting gives it. Throws for anything else, which could change the query. */
export function soqlName(name: string): string {
  if (!SOQL_NAME.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a field`);
  return name;
}

export const SOQL_NAME = /^[A-Za-z]\w{0,79}$/;
