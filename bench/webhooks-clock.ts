/** Milliseconds since 1970 with fractions, the same in all processes of a machine. */
export const nowMs = (): number => performance.timeOrigin + performance.now();
