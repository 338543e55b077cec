import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clockTime, figure } from '../format.ts';

export interface Point {
	/** Milliseconds since 1970. */
	at: number;
	/** Null leaves a gap in the line: the value at that time is unknown. */
	value: number | null;
}

export interface Series {
	name: string;
	points: readonly Point[];
}

/** The smallest round number that is not below the value: 1, 2, 2.5, 5 or 10 times a power of ten. */
export function ceiling(value: number): number {
	if (value <= 0) return 1;
	const power = 10 ** Math.floor(Math.log10(value));
	return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Runs of known values as `x,y` pairs. */
function runs(points: readonly Point[], x: (at: number) => number, y: (value: number) => number): string[][] {
	const found: string[][] = [[]];
	for (const { at, value } of points) {
		if (value === null) found.push([]);
		else found.at(-1)?.push(`${round(x(at))},${round(y(value))}`);
	}
	return found.filter((run) => run.length > 0);
}

const round = (value: number) => Math.round(value * 10) / 10;

/** `now 12, lowest 3, highest 40` */
export function summary(points: readonly Point[], format: (value: number) => string): string {
	const values = points.map(({ value }) => value).filter((value) => value !== null);
	const last = values.at(-1);
	if (last === undefined) return 'no data';
	return `now ${format(last)}, lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}`;
}

/** A line without axes, next to a figure that states its last value. */
export function Sparkline({
	points,
	label,
	format = figure,
	base = 0,
}: {
	points: readonly Point[];
	label: string;
	format?: (value: number) => string;
	/** The value at the bottom of the chart, unless a value is lower. */
	base?: number;
}) {
	const height = 24;
	const values = points.map(({ value }) => value ?? 0);
	const low = Math.min(base, ...values);
	const high = Math.max(low + 1e-9, ...values);
	const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 1];
	const x = (at: number) => 1 + ((at - from) / Math.max(1, to - from)) * 94;
	const y = (value: number) => height - 2 - ((value - low) / (high - low)) * (height - 4);
	return (
		<svg class="sparkline" viewBox={`0 0 96 ${height}`} role="img" aria-label={`${label}: ${summary(points, format)}`}>
			{runs(points, x, y).map((run) => (
				<polyline key={run[0]} points={run.join(' ')} />
			))}
		</svg>
	);
}

export interface ChartProps {
	/** The quantity and its unit. */
	title: string;
	series: readonly Series[];
	/** Milliseconds since 1970: the ends of the axis of time. */
	from: number;
	to: number;
	format?: (value: number) => string;
	tone?: 'danger' | 'warning' | undefined;
	height?: number;
	/** Returns the value at the top of the axis for the highest value shown. */
	top?: (highest: number) => number;
}

/** The width of an element in CSS pixels, so that what is drawn in it keeps the size of its letters. */
function useWidth(assumed: number) {
	const element = useRef<HTMLElement>(null);
	const [width, setWidth] = useState(assumed);
	useEffect(() => {
		if (element.current === null) return;
		const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0) || assumed));
		observer.observe(element.current);
		return () => observer.disconnect();
	}, [assumed]);
	return [element, width] as const;
}

/** The room to the left of an axis of values; charts whose labels need no more have their axes below each other. */
const labelRoom = 40;
const labelGap = 6;

/** The place of an axis of values, so far from the left that the widest of its labels fits. */
function useAxis(labels: readonly string[], width: number) {
	const axis = useRef<SVGGElement>(null);
	const [widest, setWidest] = useState(0);
	useLayoutEffect(() => {
		const texts = [...(axis.current?.querySelectorAll('text') ?? [])];
		setWidest(Math.ceil(Math.max(0, ...texts.map((text) => text.getComputedTextLength()))));
	}, [labels.join('|'), width]);
	return [axis, Math.max(labelRoom, widest) + labelGap] as const;
}

/** Areas over time with both axes. The figures also appear in words and under the pointer. */
export function AreaChart({ title, series, from, to, format = figure, tone, height = 112, top: topOf = ceiling }: ChartProps) {
	const gradient = useId();
	const [frame, width] = useWidth(320);
	const [pointed, setPointed] = useState<number>();
	const top = topOf(Math.max(0, ...series.flatMap(({ points }) => points.map(({ value }) => value ?? 0))));
	const values = [0, top / 2, top];
	const [axis, left] = useAxis(values.map(format), width);
	const [right, above, below] = [4, 8, 20];
	const x = (at: number) => left + ((at - from) / Math.max(1, to - from)) * (width - left - right);
	const y = (value: number) => height - below - (value / top) * (height - above - below);
	const times = [0, 1 / 3, 2 / 3, 1].map((share) => from + share * (to - from));
	const words = series.map(({ name, points }) => `${series.length > 1 ? `${name}: ` : ''}${summary(points, format)}`).join('; ');
	const at = pointed === undefined ? undefined : nearest(series[0]?.points ?? [], pointed);
	const onPointerMove = (event: PointerEvent) => {
		const box = (event.currentTarget as Element).getBoundingClientRect();
		setPointed(from + ((((event.clientX - box.left) / box.width) * width - left) / (width - left - right)) * (to - from));
	};
	return (
		<figure ref={frame} class={`chart ${tone ?? ''}`}>
			<svg
				viewBox={`0 0 ${width} ${height}`}
				role="img"
				aria-label={`${title}, ${clockTime(new Date(from))} to ${clockTime(new Date(to))}: ${words}`}
				onPointerMove={onPointerMove}
				onPointerLeave={() => setPointed(undefined)}
			>
				<defs>
					<linearGradient id={gradient} x1="0" y1="0" x2="0" y2="1">
						<stop class="area-top" offset="0" />
						<stop class="area-foot" offset="1" />
					</linearGradient>
				</defs>
				<g ref={axis}>
					{values.map((value) => (
						<Level key={value} label={format(value)} y={y(value)} left={left} right={width - right} />
					))}
				</g>
				{times.map((time, index) => (
					<text key={time} class="axis" x={x(time)} y={height - 4} text-anchor={index === 0 ? 'start' : index === 3 ? 'end' : 'middle'}>
						{clockTime(new Date(time))}
					</text>
				))}
				{series.map(({ name, points }, index) => (
					<g key={name} class={`series series-${index}`}>
						{runs(points, x, y).map((run) => (
							<g key={run[0]}>
								{index === 0 && (
									<polygon
										fill={`url(#${gradient})`}
										points={`${run[0]?.split(',')[0]},${y(0)} ${run.join(' ')} ${run.at(-1)?.split(',')[0]},${y(0)}`}
									/>
								)}
								<polyline points={run.join(' ')} />
							</g>
						))}
						<Now point={points.at(-1)} x={x} y={y} />
					</g>
				))}
				{at !== undefined && <line class="pointed" x1={x(at)} x2={x(at)} y1={above} y2={height - below} />}
			</svg>
			{at !== undefined && (
				<figcaption aria-hidden="true">
					{clockTime(new Date(at))}{' '}
					{series.map(({ name, points }) => {
						const value = points.find((point) => point.at === at)?.value;
						return (
							<b key={name}>{`${series.length > 1 ? `${name} ` : ''}${value === null || value === undefined ? '–' : format(value)} `}</b>
						);
					})}
				</figcaption>
			)}
		</figure>
	);
}

/** A value of the axis with its line across the chart. */
function Level({ label, y, left, right }: { label: string; y: number; left: number; right: number }) {
	return (
		<>
			<line class="grid" x1={left} x2={right} y1={y} y2={y} />
			<text class="axis" x={left - labelGap} y={y + 4} text-anchor="end">
				{label}
			</text>
		</>
	);
}

/** Marks the end of a line: the current value, which may be the only one. */
function Now({ point, x, y }: { point: Point | undefined; x(at: number): number; y(value: number): number }) {
	if (point?.value === null || point === undefined) return null;
	return <circle class="now" cx={x(point.at)} cy={y(point.value)} r="2.5" />;
}

/** The top of an axis of bytes. */
export function byteCeiling(highest: number): number {
	const unit = 1024 ** Math.floor(Math.log2(Math.max(1, highest)) / 10);
	return ceiling(highest / unit) * unit;
}

function nearest(points: readonly Point[], at: number): number | undefined {
	let best: number | undefined;
	for (const point of points) if (best === undefined || Math.abs(point.at - at) < Math.abs(best - at)) best = point.at;
	return best;
}
