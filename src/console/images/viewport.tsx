import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ImageCanvas } from './canvas.tsx';
import type { Frame, FrameStore } from './frame-store.ts';
import { type ShownFrame, type Stack, useFrame } from './stack.ts';
import { firstView, type Tool, tools, type View, zoomed } from './view.ts';
import { type Preset, presetsOf, type Window } from './window.ts';

export interface ViewportProps {
	store: FrameStore;
	stack: Stack;
	/** The position that is shown first. */
	start?: number;
	/** These stand in the upper corners. */
	left: ComponentChildren;
	right: ComponentChildren;
	/** A view that several viewports share. */
	shared?: readonly [View, (view: View) => void];
	/** Its keys work wherever the focus lies on the page. */
	ownsKeys?: boolean;
	/** Is told which image is shown. */
	onImage?(key: string): void;
}

/** Images in a stack: scroll, window, zoom, pan, cine. */
export function Viewport({ store, stack, start = 0, left, right, shared, ownsKeys = false, onImage }: ViewportProps) {
	const [position, setPosition] = useState(Math.min(start, Math.max(0, stack.total - 1)));
	const own = useState(firstView);
	const [view, setView] = shared ?? own;
	const [tool, setTool] = useState<Tool>('Window');
	const shown = useFrame(store, stack, position);
	const presets = useMemo(() => (shown.frame ? presetsOf(shown.frame) : []), [shown.frame]);
	const stated: Window = presets[0] ?? { center: 128, width: 256 };
	const go = (to: number) => setPosition(Math.max(0, Math.min(stack.total - 1, to)));
	const cine = useCine(shown, stack.total, setPosition);
	const key = stack.at(position)?.image.key;
	useEffect(() => {
		if (key !== undefined) onImage?.(key);
	}, [key]);
	const act = (pressed: string): boolean => {
		const action = actionOf(pressed, { position, total: stack.total, go, view, setView, presets, cine });
		action?.();
		return action !== undefined;
	};
	const acting = useRef(act);
	acting.current = act;
	useKeys(ownsKeys, acting);
	return (
		<div class="viewport">
			<Tools {...{ tool, setTool, presets, view, setView, cine, several: stack.total > 1 }} />
			<div class="viewport-frame">
				<ImageCanvas
					frame={shown.frame}
					view={view}
					window={stated}
					tool={tool}
					label={`Image ${position + 1} of ${stack.total}`}
					onView={setView}
					onStep={(step) => go(position + step)}
				/>
				<div class="corner upper left">{left}</div>
				<div class="corner upper right">{right}</div>
				<Position {...{ shown, position, total: stack.total }} />
				<Applied view={view} stated={stated} frame={shown.frame} />
				{shown.trouble !== undefined && (
					<p class="viewport-trouble" role="status">
						{shown.trouble}
					</p>
				)}
			</div>
			{stack.total > 1 && (
				<input
					class="viewport-slider"
					type="range"
					aria-label="Image"
					min={1}
					max={stack.total}
					value={position + 1}
					onInput={(event) => go(Number(event.currentTarget.value) - 1)}
				/>
			)}
		</div>
	);
}

interface Cine {
	isRunning: boolean;
	toggle(): void;
	rate: number;
	setRate(rate: number): void;
}

/** Runs through the stack, and from its end to its beginning. The next frame waits until the one before is there. */
function useCine({ frame, loading }: ShownFrame, total: number, setPosition: (next: (now: number) => number) => void): Cine {
	const [isRunning, setRunning] = useState(false);
	const [chosen, setRate] = useState<number>();
	const stated = frame?.description.frame_ms;
	const rate = chosen ?? (stated ? Math.min(60, Math.max(1, Math.round(1000 / stated))) : 10);
	useEffect(() => {
		if (!isRunning || loading || total < 2) return;
		const timer = setTimeout(() => setPosition((now) => (now + 1) % total), 1000 / rate);
		return () => clearTimeout(timer);
	}, [isRunning, loading, frame, rate, total]);
	return { isRunning, toggle: () => setRunning((now) => !now), rate, setRate };
}

interface Acting {
	position: number;
	total: number;
	go(to: number): void;
	view: View;
	setView(view: View): void;
	presets: readonly Preset[];
	cine: Cine;
}

function actionOf(key: string, { position, total, go, view, setView, presets, cine }: Acting): (() => void) | undefined {
	const actions: Readonly<Record<string, () => void>> = {
		ArrowUp: () => go(position - 1),
		ArrowDown: () => go(position + 1),
		ArrowLeft: () => go(position - 1),
		ArrowRight: () => go(position + 1),
		PageUp: () => go(position - 10),
		PageDown: () => go(position + 10),
		Home: () => go(0),
		End: () => go(total - 1),
		'+': () => setView(zoomed(view, 1.25)),
		'-': () => setView(zoomed(view, 0.8)),
		i: () => setView({ ...view, inverted: !view.inverted }),
		r: () => setView(firstView),
		' ': () => cine.toggle(),
	};
	const preset = /^[1-9]$/.test(key) ? presets[Number(key) - 1] : undefined;
	if (preset) return () => setView({ ...view, window: { center: preset.center, width: preset.width } });
	return actions[key];
}

function useKeys(isOn: boolean, acting: { current: (key: string) => boolean }): void {
	useEffect(() => {
		if (!isOn) return;
		const press = (event: KeyboardEvent) => {
			if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
			const { target } = event;
			if (target instanceof Element && target.closest('input, select, textarea, dialog')) return;
			if (event.key === ' ' && target instanceof Element && target.closest('button, a, summary')) return;
			if (acting.current(event.key)) event.preventDefault();
		};
		addEventListener('keydown', press);
		return () => removeEventListener('keydown', press);
	}, [isOn]);
}

interface ToolsProps {
	tool: Tool;
	setTool(tool: Tool): void;
	presets: readonly Preset[];
	view: View;
	setView(view: View): void;
	cine: Cine;
	several: boolean;
}

function Tools({ tool, setTool, presets, view, setView, cine, several }: ToolsProps) {
	const { window } = view;
	const chosen = window === undefined ? 0 : presets.findIndex(({ center, width }) => center === window.center && width === window.width);
	return (
		<div class="viewport-tools" role="toolbar" aria-label="Tools">
			<fieldset class="tool-choice" aria-label="Dragging">
				{tools.map((name) => (
					<button key={name} type="button" class="tool" aria-pressed={tool === name} onClick={() => setTool(name)}>
						{name}
					</button>
				))}
			</fieldset>
			<select
				aria-label="Window"
				value={String(chosen)}
				onChange={(event) => {
					const preset = presets[Number(event.currentTarget.value)];
					if (preset) setView({ ...view, window: { center: preset.center, width: preset.width } });
				}}
			>
				{chosen === -1 && <option value="-1">Own window</option>}
				{presets.map(({ name }, index) => (
					<option key={name + String(index)} value={String(index)}>
						{name}
					</option>
				))}
			</select>
			<button type="button" class="tool" aria-pressed={view.inverted} onClick={() => setView({ ...view, inverted: !view.inverted })}>
				Invert
			</button>
			<Button onClick={() => setView(firstView)}>Reset</Button>
			{several && (
				<>
					<Button onClick={cine.toggle}>{cine.isRunning ? 'Stop' : 'Play'}</Button>
					<label class="rate">
						<span class="visually-hidden">Images a second</span>
						<input
							type="number"
							min={1}
							max={60}
							value={cine.rate}
							onChange={(event) => cine.setRate(Math.min(60, Math.max(1, Number(event.currentTarget.value) || 10)))}
						/>
						<span aria-hidden="true">/s</span>
					</label>
				</>
			)}
		</div>
	);
}

/** The place along the normal of the image, in millimetres (PS3.3 §C.7.6.2). */
function locationOf({ values }: Frame): number | undefined {
	const [x1 = 0, y1 = 0, z1 = 0, x2 = 0, y2 = 0, z2 = 0] = values.orientation ?? [];
	const [x = 0, y = 0, z = 0] = values.position ?? [];
	if (values.position === null || values.orientation === null) return undefined;
	return x * (y1 * z2 - z1 * y2) + y * (z1 * x2 - x1 * z2) + z * (x1 * y2 - y1 * x2);
}

function Position({ shown: { frame, loading }, position, total }: { shown: ShownFrame; position: number; total: number }) {
	const location = frame && locationOf(frame);
	return (
		<div class="corner lower left" aria-live="off">
			<div data-position>
				{position + 1} / {total}
				{loading && ' …'}
			</div>
			{location !== undefined && <div>{location.toFixed(1)} mm</div>}
		</div>
	);
}

function rounded(value: number): string {
	return Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(2);
}

function Applied({ view, stated, frame }: { view: View; stated: Window; frame: Frame | undefined }) {
	const { center, width } = view.window ?? stated;
	if (frame === undefined) return null;
	return (
		<div class="corner lower right">
			{frame.isDrawnByService ? (
				<div>Drawn by the service with its own window, because this browser cannot decode the image.</div>
			) : (
				<div data-window>
					C {rounded(center)} W {rounded(width)} {frame.values.unit}
				</div>
			)}
			<div>{Math.round(view.zoom * 100)} %</div>
			{frame.description.tables && <div>The image has tables of values, which are not applied.</div>}
		</div>
	);
}
