import { useEffect, useRef } from 'preact/hooks';
import type { Frame } from './frame-store.ts';
import { type Tool, type View, windowed, zoomed } from './view.ts';
import { rendered, type Window } from './window.ts';

export interface CanvasProps {
	frame: Frame | undefined;
	view: View;
	/** The view may have a window of its own, which then takes the place of this one. */
	window: Window;
	tool: Tool;
	label: string;
	onView(view: View): void;
	/** Goes on by this number of images; below 0, back. */
	onStep(step: number): void;
}

/** Pixels of the wheel, or of a drag, from one image to the next. */
const stepPixels = 24;

/** One frame on a canvas that fills its parent, moved by mouse, touch and wheel. */
export function ImageCanvas({ frame, view, window, tool, label, onView, onStep }: CanvasProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const picture = useRef<{ of: string; frame: Frame; source: HTMLCanvasElement } | undefined>(undefined);
	const state = useRef({ view, window, tool, onView, onStep });
	state.current = { view, window, tool, onView, onStep };
	const shownWindow = view.window ?? window;
	const draw = () => {
		const element = canvas.current;
		const context = element?.getContext('2d');
		if (!element || !context) return;
		const ratio = devicePixelRatio || 1;
		const [width, height] = [element.clientWidth, element.clientHeight];
		if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio);
		if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio);
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.clearRect(0, 0, element.width, element.height);
		if (frame === undefined) return;
		const source = drawn(picture, frame, shownWindow, view.inverted);
		const { rows, columns } = frame.description;
		// Rows may be further apart than columns.
		const [down = 1, across = 1] = frame.values.spacing ?? [];
		const aspect = across > 0 && down > 0 ? down / across : 1;
		const scale = Math.min(width / columns, height / (rows * aspect)) * view.zoom;
		context.setTransform(ratio, 0, 0, ratio, (ratio * width) / 2 + ratio * view.x, (ratio * height) / 2 + ratio * view.y);
		context.imageSmoothingEnabled = scale < 4;
		context.drawImage(source, (-columns * scale) / 2, (-rows * aspect * scale) / 2, columns * scale, rows * aspect * scale);
	};
	const drawing = useRef(draw);
	drawing.current = draw;
	useEffect(draw, [frame, view, shownWindow.center, shownWindow.width]);
	useEffect(() => {
		const element = canvas.current;
		if (element === null) return;
		const resized = new ResizeObserver(() => drawing.current());
		resized.observe(element);
		const stop = listen(element, () => state.current);
		return () => {
			resized.disconnect();
			stop();
		};
	}, []);
	return <canvas ref={canvas} class="image-canvas" role="img" aria-label={label} />;
}

function drawn(
	picture: { current: { of: string; frame: Frame; source: HTMLCanvasElement } | undefined },
	frame: Frame,
	window: Window,
	inverted: boolean,
): HTMLCanvasElement {
	const { rows, columns, photometric } = frame.description;
	const of = `${window.center} ${window.width} ${inverted}`;
	if (picture.current?.frame === frame && picture.current.of === of) return picture.current.source;
	const source = picture.current?.source ?? document.createElement('canvas');
	source.width = columns;
	source.height = rows;
	const context = source.getContext('2d');
	if (context !== null) {
		const image = context.createImageData(columns, rows);
		rendered(frame.pixels, { window, values: frame.values, inverted: inverted !== (photometric === 'MONOCHROME1') }, image.data);
		context.putImageData(image, 0, 0);
	}
	picture.current = { of, frame, source };
	return source;
}

type Current = Pick<CanvasProps, 'view' | 'window' | 'tool' | 'onView' | 'onStep'>;

/** Follows pointers: one drags with the tool, a second button or Ctrl zooms, the middle one or Shift moves, two fingers do both. */
function listen(element: HTMLCanvasElement, current: () => Current): () => void {
	const pointers = new Map<number, { x: number; y: number }>();
	let wheel = 0;
	let dragged = 0;
	const middle = () => {
		const box = element.getBoundingClientRect();
		return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
	};
	const apply = (tool: Tool, dx: number, dy: number) => {
		const { view, window, onView, onStep } = current();
		if (tool === 'Pan') onView({ ...view, x: view.x + dx, y: view.y + dy });
		else if (tool === 'Zoom') onView(zoomed(view, Math.exp(-dy / 150)));
		else if (tool === 'Window') onView({ ...view, window: windowed(view.window ?? window, dx, dy) });
		else {
			dragged += dy;
			const steps = Math.trunc(dragged / stepPixels);
			dragged -= steps * stepPixels;
			if (steps !== 0) onStep(steps);
		}
	};
	const down = (event: PointerEvent) => {
		pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
		element.setPointerCapture(event.pointerId);
		dragged = 0;
	};
	const move = (event: PointerEvent) => {
		const before = pointers.get(event.pointerId);
		if (before === undefined) return;
		const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
		const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
		pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
		if (other !== undefined) {
			const { view, onView } = current();
			const apart = (point: { x: number; y: number }) => Math.hypot(point.x - other.x, point.y - other.y);
			const at = middle();
			const about = { x: (event.clientX + other.x) / 2 - at.x, y: (event.clientY + other.y) / 2 - at.y };
			const factor = apart({ x: event.clientX, y: event.clientY }) / Math.max(1, apart(before));
			onView(zoomed({ ...view, x: view.x + dx / 2, y: view.y + dy / 2 }, factor, about));
			return;
		}
		const { tool } = current();
		const isZoom = (event.buttons & 2) !== 0 || event.ctrlKey;
		apply(isZoom ? 'Zoom' : (event.buttons & 4) !== 0 || event.shiftKey ? 'Pan' : tool, dx, dy);
	};
	const up = (event: PointerEvent) => pointers.delete(event.pointerId);
	const turn = (event: WheelEvent) => {
		event.preventDefault();
		const { view, onView, onStep } = current();
		const pixels = event.deltaMode === 0 ? event.deltaY : event.deltaY * stepPixels;
		if (event.ctrlKey) {
			const at = middle();
			onView(zoomed(view, Math.exp(-pixels / 300), { x: event.clientX - at.x, y: event.clientY - at.y }));
			return;
		}
		wheel += pixels;
		const steps = Math.trunc(wheel / stepPixels);
		wheel -= steps * stepPixels;
		if (steps !== 0) onStep(steps);
	};
	const noMenu = (event: Event) => event.preventDefault();
	element.addEventListener('pointerdown', down);
	element.addEventListener('pointermove', move);
	element.addEventListener('pointerup', up);
	element.addEventListener('pointercancel', up);
	element.addEventListener('contextmenu', noMenu);
	element.addEventListener('wheel', turn, { passive: false });
	return () => {
		element.removeEventListener('pointerdown', down);
		element.removeEventListener('pointermove', move);
		element.removeEventListener('pointerup', up);
		element.removeEventListener('pointercancel', up);
		element.removeEventListener('contextmenu', noMenu);
		element.removeEventListener('wheel', turn);
	};
}
