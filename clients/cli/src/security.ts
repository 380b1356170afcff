/** Operations that are called by their address need a credential, as the others say themselves. */
export const SECURITY = [{ scheme: 'bearer', type: 'http' }] as const;
