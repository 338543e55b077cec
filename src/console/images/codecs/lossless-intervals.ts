const markers = { startOfScan: 0xda, losslessFrame: 0xc3, restartInterval: 0xdd, restart: 0xd0, endOfImage: 0xd9 } as const;

/**
 * The decoder looks some bytes ahead, and behind the last pixel it reads a further one. If it meets a marker meanwhile, it may take the last
 * sample for one that is cut off. Zeros are codes that it can read, and a pixel has at most twelve bytes.
 */
const padding = new Uint8Array(32);

interface Head {
	/** SOI and all segments up to the scan, without that of the restart interval. */
	bytes: Uint8Array;
	/** The number of rows stands here in these bytes. */
	rowsAt: number;
	rows: number;
	columns: number;
	/** Pixels; 0 without restart markers. */
	interval: number;
	/** The coded samples begin here in the stream. */
	end: number;
}

function wordAt(bytes: Uint8Array, at: number): number {
	return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Reads the segments before the scan (ISO/IEC 10918-1 §B.2); undefined for anything but the one scan of a lossless frame. */
function headOf(stream: Uint8Array): Head | undefined {
	if (wordAt(stream, 0) !== 0xff_d8) return undefined;
	const kept = [stream.subarray(0, 2)];
	let frame: { rowsAt: number; rows: number; columns: number; samples: number } | undefined;
	let [keptBytes, interval] = [2, 0];
	for (let at = 2; at + 10 <= stream.length; ) {
		const [prefix, marker] = [stream[at], stream[at + 1]];
		if (prefix !== 0xff) return undefined;
		if (marker === 0xff) {
			at += 1;
			continue;
		}
		const next = at + 2 + wordAt(stream, at + 2);
		if (marker === markers.restartInterval) interval = wordAt(stream, at + 4);
		else {
			if (marker === markers.losslessFrame) {
				const [rows, columns] = [wordAt(stream, at + 5), wordAt(stream, at + 7)];
				frame = { rowsAt: keptBytes + 5, rows, columns, samples: stream[at + 9] ?? 0 };
			}
			kept.push(stream.subarray(at, next));
			keptBytes += next - at;
		}
		if (marker === markers.startOfScan) {
			if (frame === undefined || frame.rows === 0 || frame.columns === 0 || stream[at + 4] !== frame.samples) return undefined;
			return { ...frame, bytes: joined(kept), interval, end: next };
		}
		at = next;
	}
	return undefined;
}

/** Cuts the coded samples at restart markers, up to any other marker or the end. */
function scanOf(stream: Uint8Array, from: number): Uint8Array[] {
	const pieces: Uint8Array[] = [];
	let begin = from;
	for (let at = stream.indexOf(0xff, from); at >= 0 && at + 1 < stream.length; at = stream.indexOf(0xff, at)) {
		const marker = stream[at + 1] ?? 0;
		if (marker === 0) at += 2;
		else if (marker === 0xff) at += 1;
		else {
			pieces.push(stream.subarray(begin, at));
			if (marker >> 3 !== markers.restart >> 3) return pieces;
			at += 2;
			begin = at;
		}
	}
	return [...pieces, stream.subarray(begin)];
}

/**
 * Makes of a lossless JPEG streams that the decoder reads right: each has some rows of the image, in order, and zeros before its end. Prediction begins
 * anew behind a restart marker as at the first row (ISO/IEC 10918-1 §H.1.1), so these rows are an image of their own. A stream that is something
 * else comes back as it is.
 */
export function separateIntervals(stream: Uint8Array): Uint8Array[] {
	const head = headOf(stream);
	if (head === undefined) return [Uint8Array.from(stream)];
	const { bytes, rowsAt, rows, columns, interval, end } = head;
	const scan = scanOf(stream, end);
	const each = interval === 0 ? rows : interval / columns;
	if (!Number.isInteger(each) || scan.length !== Math.ceil(rows / each)) return [Uint8Array.from(stream)];
	return scan.map((piece, index) => {
		const own = joined([bytes, piece, padding, Uint8Array.of(0xff, markers.endOfImage)]);
		const count = Math.min(each, rows - index * each);
		own[rowsAt] = count >> 8;
		own[rowsAt + 1] = count & 0xff;
		return own;
	});
}

/** Joins arrays of bytes. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
	const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const piece of pieces) {
		whole.set(piece, at);
		at += piece.length;
	}
	return whole;
}
