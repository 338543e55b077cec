import { Badge } from '../../components/badge.tsx';
import { AreaChart, type ChartProps } from '../../components/chart.tsx';
import { hourMs } from './figures.ts';

export interface TileProps extends Pick<ChartProps, 'series' | 'format' | 'top' | 'tone'> {
	title: string;
	/** The current value. */
	value: string;
	unit: string;
	note: string;
	/** The title and unit of the chart. */
	chart: string;
}

/** One figure: its current value and the last hour. */
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
