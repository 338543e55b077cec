import address from '@cornerstonejs/codec-openjpeg/decodewasm';
import load from '@cornerstonejs/codec-openjpeg/decodewasmjs';
import { decodedBy, silently } from './decoded.ts';

/** Decodes frames of JPEG 2000. */
export async function decoder() {
	const { J2KDecoder } = await load(silently(address));
	return (bytes: Uint8Array) => decodedBy(new J2KDecoder(), bytes);
}
