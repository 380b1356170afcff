const NAME_MAX = 60;
const DIGITS = 8;

/** How the lane of a webhook is named, as long as the webhook exists: by its first name, and digits of its id. */
export const laneNameOf = ({ name, id }: { name: string; id: string }): string =>
  `${[...name].slice(0, NAME_MAX).join('')}-${id.slice(-DIGITS)}`;
