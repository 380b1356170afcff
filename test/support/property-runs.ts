/** How often a property is tried: few times with always the same values, or often with new ones under `DEEP_TESTS`. */
export const propertyRuns = (few: number, deep: number): { numRuns: number; seed?: number } =>
  process.env.DEEP_TESTS ? { numRuns: deep } : { numRuns: few, seed: 7 };
