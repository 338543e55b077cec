/** The room for a table. */
export interface Room {
	/** The columns of the terminal; undefined where the output goes to a file or another command, which get everything. */
	columns?: number | undefined;
}

/** Prints rows as an aligned table, an object as lines, and anything else unchanged. */
export function forPeople(result: unknown, { columns }: Room = {}): string {
	if (Array.isArray(result)) return result.every(isRecord) ? table(result, columns) : items(result, '');
	if (isRecord(result)) return lines(result, '');
	return `${String(result)}\n`;
}

type Row = Record<string, unknown>;

function isRecord(value: unknown): value is Row {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
	return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** A setting in force, with where it comes from. */
function isInForce(value: unknown): value is { value: unknown; from: unknown } {
	return isRecord(value) && 'from' in value && 'value' in value && Object.keys(value).length === 2;
}

/** Writes a value on one line. */
function cell(value: unknown): string {
	if (isEmpty(value)) return '-';
	if (Array.isArray(value)) return value.map(cell).join(', ');
	if (isInForce(value)) return `${cell(value.value)} (${String(value.from)})`;
	if (!isRecord(value)) return String(value).replaceAll('\n', ' ');
	const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
	return members.length === 0
		? '-'
		: members.map(([name, member]) => `${name} ${isRecord(member) ? `(${cell(member)})` : cell(member)}`).join(', ');
}

/** A value that is read better over several lines. */
function isLong(value: unknown): boolean {
	if (isInForce(value)) return false;
	if (isRecord(value)) return Object.values(value).some((member) => !isEmpty(member));
	return Array.isArray(value) && value.some((item) => isRecord(item) || String(item).length > 60);
}

function lines(object: Row, indent: string): string {
	const names = Object.keys(object).filter((name) => !isLong(object[name]));
	const width = Math.max(0, ...names.map((name) => name.length));
	return Object.entries(object)
		.map(([name, value]) => {
			if (!isLong(value)) return `${indent}${name.padEnd(width)}  ${cell(value)}\n`;
			const below = Array.isArray(value) ? items(value, `${indent}  `) : lines(value as Row, `${indent}  `);
			return `${indent}${name}\n${below}`;
		})
		.join('');
}

/** The members of an item that is a record stand below each other; a hyphen marks where it begins. */
function items(values: readonly unknown[], indent: string): string {
	return values
		.map((value) => {
			if (!isRecord(value) || !isLong(value)) return `${indent}${cell(value)}\n`;
			return `${indent}- ${lines(value, `${indent}  `).slice(indent.length + 2)}`;
		})
		.join('');
}

const gap = 2;
/** A column is not made narrower than this. */
const narrowest = 12;

interface Column {
	name: string;
	cells: readonly string[];
	width: number;
}

function table(rows: readonly Row[], columns: number | undefined): string {
	const [first] = rows;
	if (first === undefined) return 'none\n';
	const all = Object.keys(first).map((name): Column => {
		const cells = rows.map((row) => cell(row[name]));
		return { name, cells, width: Math.max(name.length, ...cells.map((text) => text.length)) };
	});
	if (columns === undefined || widthOf(all) <= columns) return rendered(all);
	const { shown, left } = fitted(all, columns);
	return `${rendered(shown)}${left.length === 0 ? '' : `not shown, for lack of room: ${left.join(', ')} (all of it: --wide or --json)\n`}`;
}

function widthOf(columns: readonly Column[]): number {
	return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

/** Leaves out columns without any value, then makes the widest ones narrower, then leaves out the last ones. */
function fitted(all: readonly Column[], room: number): { shown: readonly Column[]; left: string[] } {
	const shown = all.filter(({ cells }) => cells.some((text) => text !== '-')).map((column) => ({ ...column }));
	const left = all.filter(({ name }) => !shown.some((column) => column.name === name)).map(({ name }) => name);
	const leastOf = ({ name, cells }: Column) => {
		const word = Math.max(0, ...cells.flatMap((text) => text.split(/[\s,]+/)).map((text) => text.length));
		return Math.max(name.length, Math.min(narrowest, word), isId(cells) ? word : 0);
	};
	const least = new Map(shown.map((column) => [column.name, leastOf(column)]));
	const leastWidth = () => shown.reduce((sum, { name }) => sum + (least.get(name) ?? 0), gap * (shown.length - 1));
	while (shown.length > 1 && leastWidth() > room) {
		const dropped = shown.pop();
		if (dropped !== undefined) left.push(dropped.name);
	}
	for (let excess = widthOf(shown) - room; excess > 0; excess--) {
		const widest = shown.filter(({ name, width }) => width > (least.get(name) ?? 0)).sort((a, b) => b.width - a.width)[0];
		if (widest === undefined) break;
		widest.width--;
	}
	return { shown, left };
}

/** People copy ids, so these stay on one line. */
function isId(cells: readonly string[]): boolean {
	return cells.every((text) => text === '-' || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text));
}

function rendered(columns: readonly Column[]): string {
	const count = columns[0]?.cells.length ?? 0;
	const rows = [
		columns.map(({ name }) => name),
		...Array.from({ length: count }, (_, row) => columns.map(({ cells }) => cells[row] ?? '')),
	];
	return rows
		.map((cells) =>
			line(
				cells.map((text, index) => wrapped(text, columns[index]?.width ?? 0)),
				columns,
			),
		)
		.join('');
}

/** A row has as many lines as its longest cell. */
function line(cells: readonly (readonly string[])[], columns: readonly Column[]): string {
	const height = Math.max(...cells.map((cellLines) => cellLines.length));
	return Array.from(
		{ length: height },
		(_, row) =>
			`${columns
				.map(({ width }, index) => (cells[index]?.[row] ?? '').padEnd(width))
				.join(' '.repeat(gap))
				.trimEnd()}\n`,
	).join('');
}

/** Breaks a text at blanks where it can, otherwise in the middle of a word. */
export function wrapped(text: string, width: number): string[] {
	const broken: string[] = [];
	let rest = text;
	while (rest.length > width) {
		const blank = rest.lastIndexOf(' ', width);
		const end = blank > 0 ? blank : width;
		broken.push(rest.slice(0, end).trimEnd());
		rest = rest.slice(end).trimStart();
	}
	return [...broken, rest];
}
