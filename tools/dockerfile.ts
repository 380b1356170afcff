/** One instruction of a Dockerfile, with its continuation lines joined. */
export interface Instruction {
  name: string;
  text: string;
}

/** The instructions of a Dockerfile in order; comments, empty lines and options (`--mount=…`, `--from=…`) are left out. */
export function parseDockerfile(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const joined = lines.join('\n').replaceAll(/\\\n\s*/g, '');
  return joined.split('\n').map((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not an instruction: ${line}`);
    return { name, text: rest.replace(/^(--\S+\s+)+/, '') };
  });
}

/** The arguments of an instruction in its JSON form: `["npm", "run", "start:api"]`, also behind `HEALTHCHECK … CMD`. */
export function execForm(text: string): string[] {
  const [array] = /\[.*\]$/.exec(text) ?? [];
  if (array === undefined) throw new Error(`not in JSON form: ${text}`);
  return JSON.parse(array) as string[];
}

/** `A=1 B=2` as pairs. */
export const pairsOf = (text: string): [string, string][] =>
  text.split(/\s+/).map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
