import { useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { painting } from '../painting.ts';

/** The colours of the page as a canvas needs them. */
export interface Palette {
	text: string;
	muted: string;
	line: string;
	surface: string;
	danger: string;
	/** One colour for each series, in their order. */
	series: readonly string[];
}

const seriesColours = ['--accent', '--second', '--info', '--good'];

/** Custom properties hold both colours of a pair; only an element knows which one applies. */
function paletteOf(element: Element): Palette {
	const probe = element.appendChild(document.createElement('span'));
	// Under reduced motion every element has a transition, whose first value would be read.
	probe.style.setProperty('transition', 'none', 'important');
	const colour = (name: string) => {
		probe.style.color = `var(${name})`;
		return getComputedStyle(probe).color;
	};
	const palette = {
		...{ text: colour('--text'), muted: colour('--muted'), line: colour('--line-soft'), surface: colour('--surface') },
		danger: colour('--danger'),
		series: seriesColours.map(colour),
	};
	probe.remove();
	return palette;
}

export interface PlotProps {
	/** The first column holds seconds since 1970, in ascending order; then one column for each series. */
	data: uPlot.AlignedData;
	/** Draws anew when it changes; otherwise only new data are drawn. */
	identity: string;
	height: number;
	/** @param palette returns the colours at the time of drawing: they change with the theme and on paper */
	options(palette: () => Palette): Omit<uPlot.Options, 'width' | 'height'>;
	onPlot?(plot: uPlot | undefined): void;
}

/** A4 without its margins, at 96 pixels an inch. */
const paperWidth = 680;

/**
 * A chart on a canvas, as wide as its place, in the colours of the theme; on paper in the light ones. It draws whatever series the options
 * name: lines, or bars by `uPlot.paths.bars` for a histogram of time. Dragging zooms the axis of time, which the hook `setScale` tells. The caller
 * says in words what it shows.
 */
export function Plot({ data, identity, height, options, onPlot }: PlotProps) {
	const place = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot>(undefined);
	useLayoutEffect(() => {
		const element = place.current;
		if (element === null) return;
		let palette = paletteOf(element);
		const width = () => (painting.get() === 'paper' ? paperWidth : Math.max(120, element.clientWidth));
		const made = new uPlot({ ...options(() => palette), width: width(), height }, data, element);
		plot.current = made;
		onPlot?.(made);
		const resize = () => made.width !== width() && made.setSize({ width: width(), height });
		const observer = new ResizeObserver(resize);
		observer.observe(element);
		const unsubscribe = painting.subscribe(() => {
			palette = paletteOf(element);
			resize();
			made.redraw(false, true);
		});
		return () => {
			unsubscribe();
			observer.disconnect();
			onPlot?.(undefined);
			made.destroy();
			plot.current = undefined;
		};
	}, [identity, height]);
	useLayoutEffect(() => {
		if (plot.current !== undefined && plot.current.data !== data) plot.current.setData(data);
	}, [data]);
	return <div class="plot" ref={place} />;
}
