/** A text in JQL: in double quotes, which like backslashes are escaped. */
export const jqlText = (text: string): string => `"${withoutControls(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`;

/** A text in WIQL: in single quotes, which are doubled. */
export const wiqlText = (text: string): string => `'${withoutControls(text).replaceAll("'", "''")}'`;

/** Neither language has a way to write them. */
const withoutControls = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');
