import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { histogram } from '#administration/histograms.ts';
import { useAnswer } from '../answers.ts';
import { count, localMinute, zoneName } from '../format.ts';
import { instantsOf, type Period } from './period.tsx';

export type Counted = z.output<typeof histogram>;

export interface HistogramProps {
	/** Counts what the list shows. */
	ask(span: { since: string | undefined; until: string | undefined }, signal: AbortSignal): Promise<Counted>;
	dependencies: readonly unknown[];
	period: Period;
	/** Narrows the list. */
	onPeriod(period: Period): void;
	noun: string;
	nouns?: string;
	/** Says what Enter does with the chosen part; by default it narrows the list. */
	does?: string;
}

const height = 56;
const [barWidth, gap] = [10, 2];

/** Draws how many rows a list has over time: over a day where no period is chosen. Pointer and keyboard choose parts of it. */
export function Histogram({
	ask,
	dependencies,
	period,
	onPeriod,
	noun,
	nouns = `${noun}s`,
	does = 'narrows the list to them',
}: HistogramProps) {
	const found = useAnswer((signal) => ask(instantsOf(period), signal), [period, ...dependencies]);
	const { data, failure } = found;
	if (failure !== undefined) return <p class="note">How many there are over time is not known: {failure.message}</p>;
	if (data === undefined) return <div class="histogram" aria-busy="true" />;
	return <Bars {...{ data, onPeriod, noun, nouns, does }} />;
}

type BarsProps = { data: Counted } & Required<Pick<HistogramProps, 'onPeriod' | 'noun' | 'nouns' | 'does'>>;

function Bars({ data, onPeriod, noun, nouns, does }: BarsProps) {
	const { parts, part_seconds: seconds, total, more } = data;
	const last = parts.length - 1;
	const [cursor, setCursor] = useState<number>();
	/** The part at which a choice began. */
	const [anchor, setAnchor] = useState<number>();
	const at = Math.min(cursor ?? last, last);
	const [from, to] = [Math.min(anchor ?? at, at), Math.max(anchor ?? at, at)];
	const endOf = (index: number) => new Date(Date.parse(parts[index]?.at ?? data.since) + seconds * 1000);
	const startOf = (index: number) => new Date(parts[index]?.at ?? data.since);
	const narrow = () => {
		setAnchor(undefined);
		setCursor(undefined);
		onPeriod({ last: 'between', since: startOf(from).toISOString(), until: endOf(to).toISOString() });
	};
	const chosen = parts.slice(from, to + 1);
	const sum = (of: 'count' | 'failed') => chosen.reduce((before, part) => before + part[of], 0);
	const failed = sum('failed');
	const told = `${localMinute(startOf(from))} to ${localMinute(endOf(to))}: ${count(sum('count'), noun, nouns)}${failed > 0 ? `, ${failed} failed` : ''}`;
	const partAt = (event: PointerEvent & { currentTarget: HTMLElement }) => {
		const { left, width } = event.currentTarget.getBoundingClientRect();
		return Math.max(0, Math.min(last, Math.floor(((event.clientX - left) / width) * parts.length)));
	};
	const move = (event: KeyboardEvent) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
		if (event.key === 'Enter' && cursor !== undefined) narrow();
		else if (event.key === 'Escape' && cursor !== undefined) {
			setAnchor(undefined);
			setCursor(undefined);
		} else if (step !== undefined) {
			setAnchor(event.shiftKey ? (anchor ?? at) : undefined);
			setCursor(cursor === undefined ? at : Math.max(0, Math.min(last, at + step)));
		} else return;
		event.preventDefault();
	};
	const most = Math.max(1, ...parts.map((part) => part.count));
	return (
		<div class="histogram">
			<div
				class="histogram-bars"
				role="slider"
				tabIndex={0}
				aria-label={`${nouns} over time; arrows choose a part, with Shift several, Enter ${does}`}
				aria-valuemin={0}
				aria-valuemax={last}
				aria-valuenow={at}
				aria-valuetext={told}
				onKeyDown={move}
				onPointerDown={(event) => {
					event.currentTarget.setPointerCapture(event.pointerId);
					setAnchor(partAt(event));
					setCursor(partAt(event));
				}}
				onPointerMove={(event) => setCursor(partAt(event))}
				onPointerUp={narrow}
				onPointerLeave={() => anchor === undefined && setCursor(undefined)}
			>
				<svg viewBox={`0 0 ${parts.length * barWidth} ${height}`} preserveAspectRatio="none" aria-hidden="true">
					{cursor !== undefined && <rect class="chosen" x={from * barWidth} y={0} width={(to - from + 1) * barWidth} height={height} />}
					{parts.map((part, index) => {
						const whole = barHeight(part.count, most);
						const bad = barHeight(part.failed, most);
						return (
							<g key={part.at}>
								<rect class="bar" x={index * barWidth + gap / 2} y={height - whole} width={barWidth - gap} height={whole} />
								<rect class="bar failed" x={index * barWidth + gap / 2} y={height - bad} width={barWidth - gap} height={bad} />
							</g>
						);
					})}
				</svg>
			</div>
			<p class="histogram-foot">
				<span>{localMinute(new Date(data.since))}</span>
				<span class="told">{cursor === undefined ? `${more ? 'More than ' : ''}${count(total, noun, nouns)}, ${zoneName()}` : told}</span>
				<span>{localMinute(new Date(data.until))}</span>
			</p>
		</div>
	);
}

/** One is seen beside thousands. */
function barHeight(value: number, most: number): number {
	return value === 0 ? 0 : Math.max(2, (value / most) * (height - 4));
}
