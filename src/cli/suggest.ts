/** Returns the name that somebody may have meant; undefined if none is near. */
export function nearest(given: string, names: Iterable<string>): string | undefined {
	const far = Math.max(1, Math.floor(given.length / 3)) + 1;
	let best: { name: string; distance: number } | undefined;
	for (const name of names) {
		const distance = name.startsWith(given) && given.length > 2 ? 1 : distanceOf(given, name);
		if (distance < (best?.distance ?? far)) best = { name, distance };
	}
	return best?.name;
}

/** Writes the question that follows an error text. */
export function didYouMean(given: string, names: Iterable<string>): string {
	const name = nearest(given, names);
	return name === undefined ? '' : `; did you mean '${name}'?`;
}

/** Counts the letters that have to be inserted, removed, replaced or swapped with their neighbour. */
function distanceOf(one: string, other: string): number {
	const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)];
	const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
	for (let row = 1; row <= one.length; row++) {
		const line = [row];
		rows.push(line);
		for (let column = 1; column <= other.length; column++) {
			const same = one[row - 1] === other[column - 1];
			const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
			line.push(
				Math.min(
					at(row - 1, column) + 1,
					at(row, column - 1) + 1,
					at(row - 1, column - 1) + (same ? 0 : 1),
					swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
				),
			);
		}
	}
	return at(one.length, other.length);
}
