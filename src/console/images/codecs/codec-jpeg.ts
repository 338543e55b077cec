import address from '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasm';
import load from '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs';
import { decodedBy, silently } from './decoded.ts';

/** Decodes frames of JPEG of 8 bits. */
export async function decoder() {
	const { JPEGDecoder } = await load(silently(address));
	return (bytes: Uint8Array) => decodedBy(new JPEGDecoder(), bytes);
}
