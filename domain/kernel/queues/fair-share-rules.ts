/**
 * Whether one of many may take more of something that all share: while it has less than so many times what is free. One
 * alone then takes `timesFree` of `timesFree + 1` parts, and whatever some do there is room for others (as in "Dynamic
 * queue length thresholds for shared-memory packet switches", Choudhury and Hahne, 1998).
 */
export const mayTakeMore = (own: number, free: number, timesFree: number): boolean =>
  free > 0 && own < timesFree * free;
