/** Names of the files of our own recordings. */
const FILE = '[A-Za-z0-9._-]{1,100}';
const ADDRESS = new RegExp(`^recording://page/(\\d{1,3})/(${FILE})$`);
export const FILE_NAME = new RegExp(`^${FILE}$`);

/** How a file of our own recording is addressed while its playlist is rewritten: the store is not named. */
export const ownAddress = (pageId: string, fileName: string): string => `recording://page/${pageId}/${fileName}`;

/** The page and file of such an address; undefined: it is another one. */
export function readOwnAddress(address: string): { pageId: string; fileName: string } | undefined {
  const [, pageId, fileName] = ADDRESS.exec(address) ?? [];
  return pageId === undefined || fileName === undefined ? undefined : { pageId, fileName };
}
