import type uPlot from 'uplot';
import type { Palette } from '../../components/plot.tsx';
import { bandsOf, type DrawnPoint, markOf, type TrendSeries } from './trend.ts';

/** Shades the reference range of each series over the time for which it was stated, and draws its ends. */
export function drawBands(plot: uPlot, series: readonly TrendSeries[], palette: Palette): void {
	const { ctx, bbox } = plot;
	const { min, max } = plot.scales['x'] ?? {};
	if (typeof min !== 'number' || typeof max !== 'number') return;
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	for (const [index, { axis, points }] of series.entries()) {
		const colour = palette.series[index % 4] ?? palette.text;
		for (const { from, to, low, high } of bandsOf(points, min * 1000, max * 1000)) {
			const [left, right] = [from, to].map((at) => plot.valToPos(at / 1000, 'x', true));
			const y = (value: number | null, open: number) => (value === null ? open : plot.valToPos(value, `y${axis}`, true));
			const [top, foot] = [y(high, bbox.top), y(low, bbox.top + bbox.height)];
			if (left === undefined || right === undefined) continue;
			ctx.fillStyle = colour;
			ctx.globalAlpha = series.length > 1 ? 0.07 : 0.12;
			ctx.fillRect(left, top, right - left, foot - top);
			ctx.globalAlpha = 0.55;
			ctx.strokeStyle = colour;
			ctx.lineWidth = 1;
			for (const [end, place] of [
				[high, top],
				[low, foot],
			] as const)
				if (end !== null) line(ctx, left, right, place);
		}
	}
	ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, left: number, right: number, y: number): void {
	ctx.beginPath();
	ctx.moveTo(left, y);
	ctx.lineTo(right, y);
	ctx.stroke();
}

/** Draws each value by what is said about it: flagged by its sender (filled), outside its range (hollow), or neither (a dot). */
export function drawPoints(plot: uPlot, drawn: readonly DrawnPoint[], palette: Palette): void {
	const { ctx, bbox } = plot;
	const size = 4.5 * devicePixelRatio;
	ctx.save();
	ctx.setLineDash([]);
	ctx.lineWidth = 1.6 * devicePixelRatio;
	for (const { at, value, index, result } of drawn) {
		const column = plot.series[index + 1];
		const [x, y] = [plot.valToPos(at / 1000, 'x', true), plot.valToPos(value, column?.scale ?? 'y0', true)];
		if (x < bbox.left || x > bbox.left + bbox.width) continue;
		const marked = markOf(result);
		const colour = marked === undefined ? (palette.series[index % 4] ?? palette.text) : palette.danger;
		ctx.strokeStyle = colour;
		ctx.fillStyle = marked?.by === 'range' ? palette.surface : colour;
		ctx.beginPath();
		if (marked === undefined) ctx.arc(x, y, size * 0.7, 0, 2 * Math.PI);
		else
			outline(
				ctx,
				x,
				y,
				marked.mark === 'abnormal' ? [0, size, 0] : marked.mark === 'high' ? [-size, size * 0.8] : [size, -size * 0.8],
				size,
			);
		ctx.fill();
		ctx.stroke();
		if (result.comparator !== '') tail(ctx, x, y, result.comparator.startsWith('<') ? size : -size);
	}
	ctx.restore();
}

/** A triangle from its tip to its base, or a diamond. */
function outline(ctx: CanvasRenderingContext2D, x: number, y: number, [tip = 0, base = 0, diamond]: readonly number[], size: number): void {
	if (diamond !== undefined) {
		ctx.moveTo(x, y - size);
		ctx.lineTo(x + size, y);
		ctx.lineTo(x, y + size);
		ctx.lineTo(x - size, y);
	} else {
		ctx.moveTo(x, y + tip);
		ctx.lineTo(x + size, y + base);
		ctx.lineTo(x - size, y + base);
	}
	ctx.closePath();
}

/** Draws a stroke to the side of the true value, which lies below or above what could be measured. */
function tail(ctx: CanvasRenderingContext2D, x: number, y: number, towards: number): void {
	ctx.beginPath();
	ctx.moveTo(x, y + towards);
	ctx.lineTo(x, y + towards * 3);
	ctx.moveTo(x - towards * 0.6, y + towards * 2.2);
	ctx.lineTo(x, y + towards * 3);
	ctx.lineTo(x + towards * 0.6, y + towards * 2.2);
	ctx.stroke();
}
