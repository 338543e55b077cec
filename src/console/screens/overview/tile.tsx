import { Badge } from '../../components/badge.tsx';
import { AreaChart, type ChartProps } from '../../components/chart.tsx';
import { Time } from '../../components/time.tsx';
import { hourMs } from './figures.ts';

export interface TileProps extends Pick<ChartProps, 'series' | 'format' | 'top' | 'tone'> {
	title: string;
	/** The current value. */
	value: string;
	unit: string;
	note: string;
	/** The title and unit of the chart. */
	chart: string;
	/** The list behind the figure. */
	href: string;
	/** The instant since which the figure is unknown. */
	unknownSince?: string | undefined;
}

/** One figure: its current value and the last hour. */
export function Tile({ title, value, unit, note, chart, href, unknownSince, tone, series, ...rest }: TileProps) {
	const to = series[0]?.points.at(-1)?.at ?? Date.now();
	return (
		<section class={`tile ${unknownSince === undefined ? (tone ?? '') : 'unknown'}`} aria-label={title}>
			<h2>
				<a href={href}>{title}</a>
				{tone && unknownSince === undefined && <Badge tone={tone}>{tone === 'danger' ? 'Alert' : 'Warning'}</Badge>}
			</h2>
			<p class="tile-value">
				<b>{unknownSince === undefined ? value : 'Unknown'}</b> {unknownSince === undefined && unit}
			</p>
			<p class="tile-note">
				{unknownSince === undefined ? (
					note
				) : (
					<>
						since <Time at={unknownSince} />
					</>
				)}
			</p>
			<AreaChart title={chart} series={series} from={to - hourMs} to={to} tone={tone} {...rest} />
		</section>
	);
}
