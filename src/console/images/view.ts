import type { Window } from './window.ts';

/** The place of a picture on its canvas, and the way in which its values are shown. */
export interface View {
	/** Times the size at which the whole picture fits. */
	zoom: number;
	/** The distance of its middle from that of the canvas, in pixels of the page. */
	x: number;
	y: number;
	/** Undefined: as the image states it. */
	window: Window | undefined;
	inverted: boolean;
}

export const firstView: View = { zoom: 1, x: 0, y: 0, window: undefined, inverted: false };

export const tools = ['Window', 'Pan', 'Zoom', 'Scroll'] as const;
export type Tool = (typeof tools)[number];

const zoomMin = 0.1;
const zoomMax = 40;

/** Zooms about a point, given from the middle of the canvas, so that what lies there stays. */
export function zoomed(view: View, factor: number, about = { x: 0, y: 0 }): View {
	const zoom = Math.min(zoomMax, Math.max(zoomMin, view.zoom * factor));
	const by = zoom / view.zoom;
	return { ...view, zoom, x: about.x + (view.x - about.x) * by, y: about.y + (view.y - about.y) * by };
}

/** Dragging to the right widens the window, downwards raises its centre: both by shares of the width that is shown. */
export function windowed(shown: Window, dx: number, dy: number): Window {
	const step = Math.max(0.01, shown.width / 300);
	return { width: Math.max(1, shown.width + dx * step), center: shown.center + dy * step };
}
