import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { splitMessages } from '#hl7v2/batch.ts';
import { readHead } from '#hl7v2/head.ts';
import { Message } from '#hl7v2/message.ts';
import { corpusDirectory, without } from '#test/support/needs.ts';

const corpus = join(corpusDirectory, 'hl7v2');

function files(): Buffer[] {
	return readdirSync(corpus, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(join(entry.parentPath, entry.name)));
}

function parsed(bytes: Uint8Array): Message | undefined {
	try {
		return Message.parse(bytes);
	} catch (error) {
		if (error instanceof Failure) return undefined;
		throw error;
	}
}

/** Where segments end in CR, an LF alone ends one only before the next segment id. */
function lineEndOf(text: string): RegExp {
	return /^[^\r\n]*\r/.test(text) ? /\r\n?|\n(?=\s*[A-Z][A-Z0-9]{2}[^A-Za-z0-9\s])/ : /[\r\n]/;
}

test('real messages read as their lines split at the separators do', { skip: without('corpus') }, () => {
	let compared = 0;
	for (const bytes of files().flatMap(splitMessages)) {
		const message = parsed(bytes);
		if (message === undefined || message.charset.overlapsAscii) continue;
		const text = Buffer.from(bytes)
			.toString('latin1')
			.replace(/^\xef\xbb\xbf/, '');
		const lines = text.split(lineEndOf(text)).map((line) => line.replace(/^[\0- ]+/, '').replace(/\p{Cc}+$/u, ''));
		const expected = lines.filter((line) => line !== '').map((line) => line.split(message.delimiters.field));
		assert.equal(message.segments.length, expected.length);
		message.segments.forEach((segment, index) => {
			const pieces = expected[index] ?? [];
			const shift = segment.id === 'MSH' ? 1 : 0;
			for (let piece = 1; piece < pieces.length + 2; piece++) {
				const field = piece + shift;
				assert.equal(segment.raw(field), pieces[piece] ?? '');
				compared += 1;
			}
		});
		assert.equal(readHead(bytes)?.controlId, message.controlId);
		assert.equal(readHead(bytes)?.messageType, message.messageType);
	}
	assert.ok(compared > 10_000, `${compared} fields compared`);
});
