import { useEffect, useState } from 'preact/hooks';
import { FrameStore } from './frame-store.ts';

/** A store of frames that ends with the screen. */
export function useStore(): FrameStore {
	const [store] = useState(() => new FrameStore());
	useEffect(() => () => store.close(), []);
	return store;
}
