import { useId, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { Button } from '../../components/button.tsx';
import { type Palette, Plot } from '../../components/plot.tsx';
import { clockTime, figure, localDate, statedTime } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { MarkText } from './mark.tsx';
import { type DrawnPoint, inUnit, type Trend, type TrendSeries } from './trend.ts';
import { drawBands, drawPoints } from './trend-drawing.ts';

/** All points in order of time: each is a row of the plot, which has a value in one column only. */
function drawnPoints(series: readonly TrendSeries[]): DrawnPoint[] {
	return series
		.flatMap(({ points, name }, index) => points.map((point) => ({ ...point, index, name })))
		.toSorted((left, right) => left.at - right.at);
}

function dataOf(drawn: readonly DrawnPoint[], count: number): uPlot.AlignedData {
	const columns = Array.from({ length: count }, (_, index) => drawn.map((point) => (point.index === index ? point.value : null)));
	return [drawn.map(({ at }) => at / 1000), ...columns];
}

/** A line of one code and unit has its own dashes, because colour alone does not tell lines apart. */
const dashes: readonly number[][] = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

/** The ends of an axis: all values and the ends of their ranges, with some room. */
function rangeOf(series: readonly TrendSeries[], axis: number): uPlot.Range.MinMax {
	const points = series.filter((one) => one.axis === axis).flatMap(({ points: own }) => own);
	const values = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const room = (most - least || Math.abs(most) || 1) * 0.12;
	return [least >= 0 ? Math.max(0, least - room) : least - room, most + room];
}

interface Heard {
	show(index: number | null): void;
	zoom(isZoomed: boolean): void;
}

/** Tells whether less than all points are in view. */
function isZoomed(plot: uPlot, drawn: readonly DrawnPoint[]): boolean {
	const { min, max } = plot.scales['x'] ?? {};
	const [first, last] = [drawn[0], drawn.at(-1)];
	if (typeof min !== 'number' || typeof max !== 'number' || first === undefined || last === undefined) return false;
	return min * 1000 > first.at || max * 1000 < last.at;
}

function optionsOf(series: readonly TrendSeries[], drawn: readonly DrawnPoint[], palette: () => Palette, heard: Heard) {
	const units = [...new Map(series.map(({ axis, unit }) => [axis, unit]))].toSorted(([left], [right]) => left - right);
	const axis = { stroke: () => palette().muted, ticks: { stroke: () => palette().line, size: 4 }, font: '12px system-ui, sans-serif' };
	return {
		legend: { show: false },
		padding: [10, units.length > 1 ? 0 : 14, 0, 0] as uPlot.Padding,
		cursor: {
			y: false,
			drag: { x: true, y: false, dist: 6 },
			points: { size: 12, stroke: () => palette().text, fill: 'transparent', width: 1.5 },
		},
		scales: {
			x: { time: true, range: timeRange },
			...Object.fromEntries(units.map(([place]) => [`y${place}`, { range: rangeOf(series, place) }])),
		},
		axes: [
			{ ...axis, grid: { stroke: () => palette().line }, space: 84, values: timesOf },
			...units.map(([place, unit]) => ({
				...axis,
				scale: `y${place}`,
				side: place === 0 ? 3 : 1,
				size: 58,
				label: unit === '' ? 'no unit' : unit,
				labelSize: 18,
				labelFont: '12px system-ui, sans-serif',
				grid: { show: place === 0, stroke: () => palette().line },
				values: (_plot: uPlot, splits: number[]) => splits.map((value) => figure(value)),
			})),
		],
		series: [
			{},
			...series.map(({ name, axis: place }, index) => ({
				label: name,
				scale: `y${place}`,
				stroke: () => palette().series[index % 4] ?? palette().text,
				width: 1.6,
				dash: dashes[index % 4] ?? [],
				spanGaps: true,
				points: { show: false },
			})),
		],
		hooks: {
			drawAxes: [(plot: uPlot) => drawBands(plot, series, palette())],
			draw: [(plot: uPlot) => drawPoints(plot, drawn, palette())],
			setScale: [(plot: uPlot, scale: string) => scale === 'x' && heard.zoom(isZoomed(plot, drawn))],
			setCursor: [(plot: uPlot) => heard.show(plot.cursor.left === undefined || plot.cursor.left < 0 ? null : (plot.cursor.idx ?? null))],
		},
	};
}

const daySeconds = 86_400;

/** ISO dates, or times of the day under the date; a part that the tick before has as well is left out. */
function timesOf(_plot: uPlot, splits: number[], _axis: number, _space: number, step: number): string[] {
	let before = '';
	return splits.map((seconds) => {
		const at = new Date(seconds * 1000);
		const day = localDate(at);
		const [small, large] =
			step < daySeconds ? [clockTime(at), day] : step < 28 * daySeconds ? [day.slice(5), day.slice(0, 4)] : [day.slice(0, 7), ''];
		const text = large === before ? small : `${small}\n${large}`;
		before = large;
		return text;
	});
}

/** One moment has room around it, and the first and last point are not on the frame. */
function timeRange(_plot: uPlot, from: number | null, to: number | null): uPlot.Range.MinMax {
	if (from === null || to === null) return [0, 1];
	const room = from === to ? 43_200 : (to - from) * 0.02;
	return [from - room, to + room];
}

/**
 * Lines of results over time with their reference ranges. The pointer, and the arrow keys, read the value that is nearest; pressing it opens the
 * message that it came with. Dragging zooms. The table beside it has the same values.
 */
export function TrendChart({ trend }: { trend: Trend }) {
	const { series } = trend;
	const plot = useRef<uPlot>(undefined);
	const [pointed, setPointed] = useState<number | null>(null);
	const [zoomed, setZoomed] = useState(false);
	const hint = useId();
	const drawn = useMemo(() => drawnPoints(series), [trend]);
	const data = useMemo(() => dataOf(drawn, series.length), [drawn]);
	const point = pointed === null ? undefined : drawn[pointed];
	const open = () => {
		const message = point?.result.origin.message;
		if (message) navigate(pageOf('message', { id: message }));
	};
	const go = (index: number) => {
		const next = Math.min(drawn.length - 1, Math.max(0, index));
		const found = drawn[next];
		if (found === undefined || plot.current === undefined) return;
		plot.current.setCursor({ left: plot.current.valToPos(found.at / 1000, 'x'), top: 10 }, false);
		setPointed(next);
	};
	const zoom = (factor: number) => {
		const { min, max } = plot.current?.scales['x'] ?? {};
		if (typeof min !== 'number' || typeof max !== 'number') return;
		const middle = point === undefined ? (min + max) / 2 : point.at / 1000;
		const half = ((max - min) / 2) * factor;
		plot.current?.setScale('x', { min: middle - half, max: middle + half });
	};
	const showAll = () => plot.current?.setData(data, true);
	const last = drawn.length - 1;
	const keys: Readonly<Record<string, () => void>> = {
		ArrowLeft: () => go((pointed ?? last + 1) - 1),
		ArrowRight: () => go((pointed ?? -1) + 1),
		Home: () => go(0),
		End: () => go(last),
		Enter: open,
		'+': () => zoom(0.5),
		'-': () => zoom(2),
		Escape: showAll,
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const act = keys[event.key];
		if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	};
	const title = series.map(({ name, unit }) => `${name} ${inUnit(unit)}`).join(', ');
	return (
		<figure class="trend">
			<Legend series={series} zoomed={zoomed} onShowAll={showAll} />
			<div
				class="trend-plot"
				role="slider"
				tabIndex={0}
				aria-label={`Course of ${title}`}
				aria-describedby={hint}
				aria-valuemin={1}
				aria-valuemax={drawn.length}
				aria-valuenow={(pointed ?? last) + 1}
				aria-valuetext={said(point ?? drawn[last])}
				onKeyDown={onKeyDown}
				onClick={open}
			>
				<Plot
					data={data}
					identity={JSON.stringify(series.map(({ name, unit, points }) => [name, unit, points.map(({ at, value }) => [at, value])]))}
					height={280}
					options={(palette) => optionsOf(series, drawn, palette, { show: setPointed, zoom: setZoomed })}
					onPlot={(made) => {
						plot.current = made;
					}}
				/>
			</div>
			<figcaption>
				<p class="trend-reading" aria-hidden="true">
					{point === undefined ? (
						<span class="muted">Point at the chart, or move through it with the arrow keys.</span>
					) : (
						<Reading point={point} />
					)}
				</p>
				<p id={hint} class="visually-hidden">
					Left and right arrow read the values, Enter opens the message of a value, plus and minus zoom, Escape shows all. The table has the
					same values.
				</p>
				{trend.doubts.map((doubt) => (
					<p key={doubt} class="note warning">
						{doubt}
					</p>
				))}
			</figcaption>
		</figure>
	);
}

function said(point: DrawnPoint | undefined): string {
	if (point === undefined) return 'no value';
	const { name, result } = point;
	const mark = [result.interpretation, result.derived === null ? '' : `${result.derived} by its reference range`]
		.filter(Boolean)
		.join(', ');
	return `${statedTime(result.at)}: ${name} ${result.value}${mark === '' ? '' : `, ${mark}`}${result.range === '' ? '' : `, reference ${result.range}`}`;
}

function Reading({ point: { name, result } }: { point: DrawnPoint }) {
	return (
		<>
			{statedTime(result.at)} · {name} <b>{result.value}</b> <MarkText result={result} />
			{result.range !== '' && <span class="muted">reference {result.range}</span>}
			{result.origin.message !== null && <span class="muted">· press to open its message</span>}
		</>
	);
}

function Legend({ series, zoomed, onShowAll }: { series: readonly TrendSeries[]; zoomed: boolean; onShowAll(): void }) {
	return (
		<div class="trend-head">
			<ul class="trend-legend">
				{series.map(({ name, unit }, index) => (
					<li key={`${name} ${unit}`}>
						<svg class={`swatch swatch-${index % 4}`} viewBox="0 0 26 6" aria-hidden="true">
							<line x1="0" x2="26" y1="3" y2="3" stroke-dasharray={dashes[index % 4]?.join(' ')} />
						</svg>
						{name} <span class="muted">{unit}</span>
					</li>
				))}
			</ul>
			<ul class="trend-legend muted">
				<li>▲▼ flagged by the sender</li>
				<li>△▽ outside the stated range</li>
				<li>shaded: reference range</li>
			</ul>
			{zoomed && (
				<Button kind="quiet" onClick={onShowAll}>
					Show all
				</Button>
			)}
		</div>
	);
}
