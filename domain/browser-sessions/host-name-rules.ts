/** A host name in lower case, `*.` at the front for all below; no address of numbers, no port. */
export const HOST_NAME = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
/** Of an environment, and of a request. */
export const HOST_NAMES_MAX = 50;
