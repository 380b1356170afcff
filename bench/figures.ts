import type { CpuTimes } from './cpu.ts';

interface Figure {
  unit: string;
  target: string;
  values: number[];
}

/** The value below which the given share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Figures over the rounds of a benchmark, printed with their minimum, median and maximum. */
export class Figures {
  readonly #figures = new Map<string, Figure>();

  note(name: string, value: number, unit = 'ms', target = ''): void {
    const figure = this.#figures.get(name) ?? { unit, target, values: [] };
    figure.values.push(value);
    this.#figures.set(name, figure);
  }

  /** CPU per unit of work: of each process, and of all. Noise on the machine moves it less than times. */
  noteCpu(name: string, cpu: CpuTimes, units: number): void {
    const each = Object.entries(cpu);
    const totalMs = each.reduce((sum, [, ms]) => sum + ms, 0);
    for (const [process, ms] of [...each, ['all', totalMs] as const]) {
      this.note(`${name}: CPU, ${process}`, (ms * 1_000) / units, 'µs');
    }
  }

  print(): void {
    const format = (value: number | undefined) =>
      (value === undefined ? '' : value.toFixed(value >= 1_000 || value === 0 ? 0 : 1)).padStart(9);
    console.log(`${''.padEnd(62)}${['min', 'median', 'max'].map((title) => title.padStart(9)).join('')}  unit  target`);
    for (const [name, { unit, target, values }] of this.#figures) {
      console.log(
        `${name.padEnd(62)}${[0, 0.5, 1].map((share) => format(quantile(values, share))).join('')}  ${unit.padEnd(4)}  ${target}`,
      );
    }
  }
}
