/** Plots as inline SVG: lines over a linear or logarithmic axis, and bars whose parts are stacked. Nothing else is needed to see them. */

export interface Series {
	name: string;
	points: readonly (readonly [number, number])[];
}

export interface Plot {
	title: string;
	x: string;
	y: string;
	series: readonly Series[];
	/** Both axes. */
	logarithmic?: boolean;
}

const colours = ['#1f5fa8', '#c2511b', '#2f8a4c', '#8a3fa0', '#b3902a', '#5b6770', '#b03060', '#2a8f96'];
const width = 620;
const height = 320;
const inner = { left: 62, top: 34, right: width - 14, bottom: height - 46 };

export function escaped(text: string): string {
	return text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character] ?? character);
}

const colourOf = (index: number) => colours[index % colours.length] ?? '#000';

export function figure(value: number): string {
	if (!Number.isFinite(value)) return '–';
	if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
	return String(Number(value.toPrecision(3)));
}

/** About so many round numbers that span the values. */
export function ticks(low: number, high: number, about = 5): number[] {
	const top = high > low ? high : low + 1;
	const rough = (top - low) / about;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
	const found: number[] = [];
	for (let value = Math.floor(low / step) * step; value < top + step * 0.999; value += step) found.push(Number(value.toPrecision(12)));
	return found;
}

/** Powers of ten that span the values. */
function decades(low: number, high: number): number[] {
	const first = Math.floor(Math.log10(low));
	return Array.from({ length: Math.max(2, Math.ceil(Math.log10(high)) - first + 1) }, (_, index) => 10 ** (first + index));
}

interface Axis {
	marks: number[];
	at(value: number): number;
}

function axis(values: readonly number[], from: number, to: number, isLogarithmic: boolean): Axis {
	const finite = values.filter((value) => Number.isFinite(value) && (!isLogarithmic || value > 0));
	const [low, high] = [Math.min(...finite, ...(isLogarithmic ? [] : [0])), Math.max(...finite)];
	const marks = finite.length === 0 ? [0, 1] : isLogarithmic ? decades(low, high) : ticks(low, high);
	const place = isLogarithmic ? Math.log10 : (value: number) => value;
	const [first, last] = [place(marks[0] ?? 0), place(marks.at(-1) ?? 1)];
	return { marks, at: (value) => from + ((place(value) - first) / (last - first || 1)) * (to - from) };
}

const text = (x: number, y: number, content: string, more = '') =>
	`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(content)}</text>`;

function frame(title: string, body: string, rows = 0): string {
	return `<svg viewBox="0 0 ${width} ${height + rows * 16}" role="img" aria-label="${escaped(title)}">${text(12, 18, title, 'class="title"')}${body}</svg>`;
}

/** The names of the series below the plot, two in a row. */
function legend(names: readonly string[]): string {
	return names
		.map((name, index) => {
			const [x, y] = [14 + (index % 2) * 303, height + 4 + Math.floor(index / 2) * 16];
			return `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colourOf(index)}"/>${text(x + 15, y, name.length > 48 ? `${name.slice(0, 47)}…` : name)}`;
		})
		.join('');
}

export function linePlot({ title, x, y, series, logarithmic = false }: Plot): string {
	const points = series.flatMap((one) => one.points);
	const across = axis(
		points.map(([value]) => value),
		inner.left,
		inner.right,
		logarithmic,
	);
	const up = axis(
		points.map(([, value]) => value),
		inner.bottom,
		inner.top,
		logarithmic,
	);
	const grid = [
		...up.marks.map(
			(mark) =>
				`<path class="grid" d="M${inner.left} ${up.at(mark).toFixed(1)}H${inner.right}"/>${text(inner.left - 6, up.at(mark) + 4, figure(mark), 'text-anchor="end"')}`,
		),
		...across.marks.map((mark) => text(across.at(mark), inner.bottom + 16, figure(mark), 'text-anchor="middle"')),
		text((inner.left + inner.right) / 2, height - 14, x, 'text-anchor="middle"'),
	];
	const lines = series.map(({ points: own }, index) => {
		const placed = own
			.filter(([at, value]) => Number.isFinite(value) && (!logarithmic || (at > 0 && value > 0)))
			.map(([at, value]) => [across.at(at).toFixed(1), up.at(value).toFixed(1)] as const);
		const dots =
			placed.length > 30 ? '' : placed.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.6" fill="${colourOf(index)}"/>`).join('');
		return `<polyline fill="none" stroke="${colourOf(index)}" stroke-width="1.8" points="${placed.map((place) => place.join(',')).join(' ')}"/>${dots}`;
	});
	const names = series.map(({ name }) => name);
	return frame(`${title} (${y})`, `${grid.join('')}${lines.join('')}${legend(names)}`, Math.ceil(names.length / 2));
}

export interface Bar {
	name: string;
	/** The values stand in the order of `parts`. */
	values: readonly number[];
}

/** Bars that lie on their side, each of stacked parts. */
export function barPlot({ title, x, parts, bars }: { title: string; x: string; parts: readonly string[]; bars: readonly Bar[] }): string {
	const left = 226;
	const total = (bar: Bar) => bar.values.reduce((sum, value) => sum + value, 0);
	const across = axis(bars.map(total), left, inner.right, false);
	const high = Math.min(24, (inner.bottom - inner.top) / Math.max(1, bars.length));
	const body = bars.map((bar, row) => {
		const y = inner.top + row * high;
		let from = 0;
		const rects = bar.values.map((value, index) => {
			const [start, end] = [across.at(from), across.at(from + value)];
			from += value;
			return `<rect x="${start.toFixed(1)}" y="${(y + 2).toFixed(1)}" width="${Math.max(0, end - start).toFixed(1)}" height="${(high - 4).toFixed(1)}" fill="${colourOf(index)}"><title>${escaped(`${parts[index]}: ${figure(value)}`)}</title></rect>`;
		});
		return `${text(left - 8, y + high / 2 + 4, bar.name.length > 34 ? `${bar.name.slice(0, 33)}…` : bar.name, 'text-anchor="end"')}${rects.join('')}`;
	});
	const marks = across.marks.map((mark) => text(across.at(mark), inner.bottom + 16, figure(mark), 'text-anchor="middle"'));
	return frame(
		title,
		`${marks.join('')}${text((left + inner.right) / 2, height - 14, x, 'text-anchor="middle"')}${body.join('')}${legend(parts)}`,
		Math.ceil(parts.length / 2),
	);
}
