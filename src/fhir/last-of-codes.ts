/** An observation with what it is grouped by. */
interface Grouped {
	subject: string;
	codes: readonly string[];
	time: string;
}

/**
 * Chooses the newest observations of each code (https://hl7.org/fhir/R4/observation-operation-lastn.html). Codes that stand in one
 * observation are equal, and so are those that are equal to one of them. Observations of the same time as the last one that is chosen are
 * chosen too. `observations` are sorted, the newest first.
 */
export function lastOfCodes<Item extends Grouped>(observations: readonly Item[], max: number): Item[] {
	const groups = new CodeGroups();
	for (const { subject, codes } of observations) groups.join(codes.map((code) => `${subject} ${code}`));
	const chosen = new Map<string, { count: number; time: string }>();
	return observations.filter(({ subject, codes, time }) => {
		const group = groups.nameOf(`${subject} ${codes[0] ?? ''}`);
		const held = chosen.get(group);
		if (held !== undefined && held.count >= max && held.time !== time) return false;
		chosen.set(group, { count: (held?.count ?? 0) + 1, time });
		return true;
	});
}

/** The codes that are equal to one another. */
class CodeGroups {
	readonly #parents = new Map<string, string>();

	/** Returns one code that stands for all that are equal. */
	nameOf(code: string): string {
		let name = code;
		for (let parent = this.#parents.get(name); parent !== undefined; parent = this.#parents.get(name)) name = parent;
		// The next look-up is shorter.
		if (name !== code) this.#parents.set(code, name);
		return name;
	}

	join([first, ...others]: readonly string[]): void {
		if (first === undefined) return;
		for (const other of others) {
			const [name, joined] = [this.nameOf(first), this.nameOf(other)];
			if (name !== joined) this.#parents.set(joined, name);
		}
	}
}
