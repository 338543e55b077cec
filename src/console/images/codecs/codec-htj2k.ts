import address from '@cornerstonejs/codec-openjph/wasm';
import load from '@cornerstonejs/codec-openjph/wasmjs';
import { decodedBy, silently } from './decoded.ts';

/** Decodes frames of High-Throughput JPEG 2000. */
export async function decoder() {
	const { HTJ2KDecoder } = await load(silently(address));
	return (bytes: Uint8Array) => decodedBy(new HTJ2KDecoder(), bytes);
}
