import type { ImageDescription } from './calls.ts';
import type { Frame } from './frame-store.ts';
import type { Pixels } from './pixels.ts';

/** The values that are shown between black and white, in the unit of the image (HU for CT). */
export interface Window {
	center: number;
	width: number;
}

export interface Preset extends Window {
	name: string;
}

type Values = ImageDescription['values'][number];

/** Windows that are customary. Values of other modalities have no common scale. */
const byModality: Readonly<Record<string, readonly Preset[]>> = {
	CT: [
		{ name: 'Brain', center: 40, width: 80 },
		{ name: 'Stroke', center: 40, width: 40 },
		{ name: 'Bone', center: 480, width: 2500 },
		{ name: 'Lung', center: -600, width: 1500 },
		{ name: 'Mediastinum', center: 40, width: 400 },
		{ name: 'Abdomen', center: 60, width: 360 },
		{ name: 'Liver', center: 60, width: 160 },
		{ name: 'Angio', center: 300, width: 600 },
	],
};

/** The window of colours: all values of a byte. */
const ofBytes: Window = { center: 128, width: 256 };

/** The windows that the image states, those of its modality, and the whole range of its values. */
export function presetsOf({ description, values, pixels }: Frame): Preset[] {
	if (pixels.isColour) return [{ name: 'Full range', ...ofBytes }];
	const stated = values.windows.map(({ center, width, name }, index) => ({
		name: name || (index === 0 ? 'As sent' : `As sent ${index + 1}`),
		center,
		width,
	}));
	return [...stated, ...(byModality[description.modality] ?? []), { name: 'Full range', ...wholeRange(description, values, pixels) }];
}

/** The range of eight bits, so that a film does not flicker; else from the smallest to the largest value of the frame. */
function wholeRange({ bits_stored: bits, signed }: ImageDescription, { slope, intercept }: Values, { samples }: Pixels): Window {
	let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
	if (bits <= 8 && !signed) [low, high] = [0, 2 ** bits - 1];
	else
		for (const sample of samples) {
			if (sample < low) low = sample;
			if (sample > high) high = sample;
		}
	if (low > high) [low, high] = [0, 0];
	const [first, last] = [low * slope + intercept, high * slope + intercept];
	return { center: (first + last + 1) / 2, width: Math.abs(last - first) + 1 };
}

export interface Shown {
	window: Window;
	values: Pick<Values, 'slope' | 'intercept'>;
	inverted: boolean;
}

/** Renders a frame for the screen: each value by the linear function of PS3.3 §C.11.2.1.2. */
export function rendered({ samples, isColour }: Pixels, { window, values, inverted }: Shown, into: Uint8ClampedArray): void {
	const tone = toneOf(window, isColour ? { slope: 1, intercept: 0 } : values, inverted);
	const tones = samples.BYTES_PER_ELEMENT <= 2 ? tableOf(tone) : undefined;
	const last = tones === undefined ? 0 : tones.length - 1;
	const of = (sample: number) => (tones ? (tones[sample & last] ?? 0) : tone(sample));
	const count = into.length / 4;
	for (let at = 0; at < count; at++) {
		const pixel = 4 * at;
		if (isColour) {
			into[pixel] = of(samples[3 * at] ?? 0);
			into[pixel + 1] = of(samples[3 * at + 1] ?? 0);
			into[pixel + 2] = of(samples[3 * at + 2] ?? 0);
		} else {
			const grey = of(samples[at] ?? 0);
			into[pixel] = grey;
			into[pixel + 1] = grey;
			into[pixel + 2] = grey;
		}
		into[pixel + 3] = 255;
	}

	/** One tone for each value of a byte or a word, signed or not. */
	function tableOf(toTone: (value: number) => number): Uint8ClampedArray {
		const isSigned = samples instanceof Int16Array || samples instanceof Int8Array;
		const table = new Uint8ClampedArray(2 ** (8 * samples.BYTES_PER_ELEMENT));
		const half = table.length / 2;
		for (let value = 0; value < table.length; value++) table[value] = toTone(isSigned && value >= half ? value - table.length : value);
		return table;
	}
}

function toneOf({ center, width }: Window, { slope, intercept }: Shown['values'], inverted: boolean): (sample: number) => number {
	const span = Math.max(1e-9, width > 1 ? width - 1 : width);
	return (sample) => {
		const share = (sample * slope + intercept - (center - 0.5)) / span + 0.5;
		const tone = 255 * Math.min(1, Math.max(0, share));
		return inverted ? 255 - tone : tone;
	};
}
