import { setTimeout as pause } from 'node:timers/promises';
import type { Bed } from '../bed.ts';
import type { Harm, Line } from '../line.ts';
import { type Fault, growth } from './definition.ts';

type Place = [name: string, linesOf: (bed: Bed) => Line[]];

const places: readonly Place[] = [
	['clients', (bed) => [...bed.clientLines.values()]],
	['database', (bed) => [bed.databaseLine]],
];

function hurt([place, linesOf]: Place, name: string, seen: keyof Harm, ms: number, does: (line: Line, ms: number) => void): Fault {
	return {
		name: `${name}, ${place}`,
		strike: (bed, chance) => {
			const lines = linesOf(bed);
			return growth(
				() => bed.harm(lines)[seen],
				async () => {
					try {
						for (const line of lines) does(line, chance.between(20, 200));
						await pause(chance.between(ms, 2 * ms));
					} finally {
						for (const line of lines) line.heal();
					}
				},
			);
		},
	};
}

/** Each of them between clients and service, and between service and database. */
export const lineFaults: readonly Fault[] = places.flatMap((place) => [
	hurt(place, 'connections cut', 'cut', 100, (line) => line.cut()),
	hurt(place, 'connections reset', 'reset', 100, (line) => line.reset()),
	hurt(place, 'delay', 'delayed', 800, (line, ms) => line.become({ kind: 'delayed', ms })),
	hurt(place, 'one byte a second', 'dripped', 1200, (line) => line.become({ kind: 'dripping' })),
	hurt(place, 'half-open, the far side gone', 'halved', 800, (line) => line.halve('far')),
	hurt(place, 'half-open, the near side gone', 'halved', 800, (line) => line.halve('near')),
]);
