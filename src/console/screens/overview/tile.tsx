import { Badge } from '../../components/badge.tsx';
import { AreaChart, type ChartProps } from '../../components/chart.tsx';
import { hourMs } from './figures.ts';

export interface TileProps extends Pick<ChartProps, 'series' | 'format' | 'top' | 'tone'> {
	title: string;
	/** Now. */
	value: string;
	unit: string;
	note: string;
	/** What the chart shows, in what. */
	chart: string;
}

/** One figure: now, and over the last hour. */
export function Tile({ title, value, unit, note, chart, tone, series, ...rest }: TileProps) {
	const to = series[0]?.points.at(-1)?.at ?? Date.now();
	return (
		<section class={`tile ${tone ?? ''}`} aria-label={title}>
			<h2>
				{title}
				{tone && <Badge tone={tone}>Alert</Badge>}
			</h2>
			<p class="tile-value">
				<b>{value}</b> {unit}
			</p>
			<p class="tile-note">{note}</p>
			<AreaChart title={chart} series={series} from={to - hourMs} to={to} tone={tone} {...rest} />
		</section>
	);
}
