/** Whether a host name, as a parsed URL spells it, is this machine itself (RFC 6761 fixes `localhost`). */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
