import address from '@cornerstonejs/codec-charls/decodewasm';
import load from '@cornerstonejs/codec-charls/decodewasmjs';
import { decodedBy, silently } from './decoded.ts';

/** Decodes frames of JPEG-LS. */
export async function decoder() {
	const { JpegLSDecoder } = await load(silently(address));
	return (bytes: Uint8Array) => decodedBy(new JpegLSDecoder(), bytes);
}
