/** The limits that the processes of a node share. The parent counts, so the total of the node holds at every moment. */
export class SharedQuotas {
	/** The counts by name, then by process. */
	readonly #taken = new Map<string, Map<object, number>>();

	take(member: object, name: string, most: number): boolean {
		const taken = this.#taken.get(name) ?? new Map<object, number>();
		let all = 0;
		for (const count of taken.values()) all += count;
		if (all >= most) return false;
		this.#taken.set(name, taken.set(member, (taken.get(member) ?? 0) + 1));
		return true;
	}

	give(member: object, name: string): void {
		const taken = this.#taken.get(name);
		const left = (taken?.get(member) ?? 0) - 1;
		if (left > 0) taken?.set(member, left);
		else taken?.delete(member);
		if (taken?.size === 0) this.#taken.delete(name);
	}

	/** Gives back everything that an ended process had. */
	end(member: object): void {
		for (const [name, taken] of this.#taken) if (taken.delete(member) && taken.size === 0) this.#taken.delete(name);
	}
}
