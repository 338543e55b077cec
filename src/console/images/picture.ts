import type { Pixels } from './pixels.ts';

/** Reads the pixels of a picture that every browser can show, such as PNG. @throws DOMException if it is none */
export async function pixelsOfPicture(bytes: ArrayBuffer): Promise<{ rows: number; columns: number; pixels: Pixels }> {
	const picture = await createImageBitmap(new Blob([bytes]));
	const { width: columns, height: rows } = picture;
	const context = new OffscreenCanvas(columns, rows).getContext('2d', { willReadFrequently: true });
	if (context === null) throw new DOMException('there is no canvas', 'NotSupportedError');
	context.drawImage(picture, 0, 0);
	picture.close();
	const { data } = context.getImageData(0, 0, columns, rows);
	const samples = new Uint8Array(3 * rows * columns);
	for (let at = 0; at < rows * columns; at++) samples.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
	return { rows, columns, pixels: { samples, isColour: true } };
}
