import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from '../answers.ts';
import type { Frame, FrameStore, ImageAddress } from './frame-store.ts';
import { NotShown } from './pixels.ts';

/** An image with its number of frames. */
export interface StackImage {
	image: ImageAddress;
	frames: number;
}

/** Frames of images in the order in which they are scrolled through. */
export class Stack {
	readonly total: number;
	readonly #images: readonly StackImage[];
	/** The position of the first frame of each image. */
	readonly #starts: number[] = [];

	constructor(images: readonly StackImage[]) {
		this.#images = images;
		let total = 0;
		for (const { frames } of images) {
			this.#starts.push(total);
			total += frames;
		}
		this.total = total;
	}

	/** Positions are counted from 0, frames from 1. */
	at(position: number): { image: ImageAddress; frame: number } | undefined {
		let [low, high] = [0, this.#images.length - 1];
		while (low < high) {
			const middle = Math.ceil((low + high) / 2);
			if ((this.#starts[middle] ?? 0) <= position) low = middle;
			else high = middle - 1;
		}
		const found = this.#images[low];
		return found && { image: found.image, frame: position - (this.#starts[low] ?? 0) + 1 };
	}

	startOf(key: string): number {
		const index = this.#images.findIndex(({ image }) => image.key === key);
		return this.#starts[index] ?? 0;
	}
}

export interface ShownFrame {
	/** While another one is read, the one before stays. */
	frame: Frame | undefined;
	/** Why the frame cannot be shown, in words. */
	trouble: string | undefined;
	loading: boolean;
}

/** Frames that are read before somebody scrolls to them. */
const aheadMax = 6;

/** Reads the frame at a position, then those that come next in the direction of scrolling. */
export function useFrame(store: FrameStore, stack: Stack, position: number): ShownFrame {
	const [shown, setShown] = useState<ShownFrame>({ frame: undefined, trouble: undefined, loading: true });
	const before = useRef(position);
	useEffect(() => {
		const at = stack.at(position);
		if (at === undefined) return;
		let isLeft = false;
		const direction = position < before.current ? -1 : 1;
		before.current = position;
		setShown((now) => ({ ...now, loading: true }));
		store.frame(at.image, at.frame).then(
			async (frame) => {
				if (isLeft) return;
				setShown({ frame, trouble: undefined, loading: false });
				for (let ahead = 1; ahead <= aheadMax && !isLeft; ahead++) {
					const next = position + direction * ahead;
					const following = next >= 0 && next < stack.total ? stack.at(next) : undefined;
					// A frame that cannot be read is told when somebody comes to it.
					if (following !== undefined) await store.frame(following.image, following.frame).catch(() => undefined);
				}
			},
			(error: unknown) => {
				if (isLeft) return;
				const trouble = error instanceof NotShown ? error.message : asFailure(error).message;
				setShown({ frame: undefined, trouble, loading: false });
			},
		);
		return () => {
			isLeft = true;
		};
	}, [store, stack, position]);
	return shown;
}
