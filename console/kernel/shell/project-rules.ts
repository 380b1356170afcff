/** Where one goes on when the project is another one: from the page of one thing of the old project to the list of its kind. */
export const listOfThing = (path: string): string | undefined =>
  /\/(?:candidates|environments|runs)(?=\/[^/]+\/?$)/.exec(path)?.[0];
