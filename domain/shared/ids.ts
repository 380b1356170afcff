import { v7, validate } from 'uuid';

/** A UUIDv7: ids sort by the time of their making. */
export const newId = (): string => v7();

export const isId = (text: string): boolean => validate(text);
