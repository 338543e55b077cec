/** A frame as a codec gives it. */
export interface Decoded {
	bytes: ArrayBuffer;
	rows: number;
	columns: number;
	samples: number;
	/** A sample takes this many bits in the bytes. */
	bits: 8 | 16;
	isPlanar: boolean;
	/** The codec has turned the colours into red, green and blue. */
	isRgb: boolean;
	/** The stream says that its samples are signed. */
	isSigned?: boolean;
}

/** Codecs write about the streams that they are given; what is wrong with one is told by the exception. */
export function silently(address: string): LoadOptions {
	return { locateFile: () => address, print: () => undefined, printErr: () => undefined };
}

export function decodedBy(decoder: FrameDecoder, bytes: Uint8Array): Decoded {
	try {
		decoder.getEncodedBuffer(bytes.length).set(bytes);
		decoder.decode();
		const { width, height, componentCount, bitsPerSample, isSigned = false } = decoder.getFrameInfo();
		// The buffer is memory of the codec.
		const own = Uint8Array.from(decoder.getDecodedBuffer());
		const isPlanar = componentCount > 1 && decoder.getInterleaveMode?.() === 0;
		return {
			bytes: own.buffer,
			rows: height,
			columns: width,
			samples: componentCount,
			bits: bitsPerSample > 8 ? 16 : 8,
			isPlanar,
			isRgb: true,
			isSigned,
		};
	} finally {
		decoder.delete();
	}
}
