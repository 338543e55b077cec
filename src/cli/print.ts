/** Prints rows as an aligned table, an object as lines, and anything else unchanged. */
export function forPeople(result: unknown): string {
	if (Array.isArray(result)) return table(result as Record<string, unknown>[]);
	if (result !== null && typeof result === 'object') return lines(result as Record<string, unknown>);
	return `${String(result)}\n`;
}

function cell(value: unknown): string {
	if (value === null || value === undefined) return '-';
	if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ');
	if (typeof value === 'object')
		return 'from' in value && 'value' in value ? `${cell(value.value)} (${String(value.from)})` : JSON.stringify(value);
	return String(value);
}

function lines(object: Record<string, unknown>): string {
	const width = Math.max(...Object.keys(object).map((name) => name.length));
	return Object.entries(object)
		.map(([name, value]) => {
			if (Array.isArray(value) && value.some((item) => String(item).length > 60))
				return `${name}\n${value.map((item) => `  ${cell(item)}`).join('\n')}\n`;
			if (isTable(value)) return `${name}\n${lines(value).replace(/^/gm, '  ').trimEnd()}\n`;
			return `${name.padEnd(width)}  ${cell(value)}\n`;
		})
		.join('');
}

/** Settings in force stand below each other. */
function isTable(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	const members: unknown[] = Object.values(value);
	return members.length > 0 && members.every((member) => typeof member === 'object' && member !== null && 'from' in member);
}

function table(rows: readonly Record<string, unknown>[]): string {
	const [first] = rows;
	if (first === undefined) return 'none\n';
	const names = Object.keys(first);
	const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => cell(row[name]).length)));
	const line = (cells: string[]) =>
		`${cells
			.map((text, index) => text.padEnd(widths[index] ?? 0))
			.join('  ')
			.trimEnd()}\n`;
	return [line(names), ...rows.map((row) => line(names.map((name) => cell(row[name]))))].join('');
}
