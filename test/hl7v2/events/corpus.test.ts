import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Failure } from '#core/failure.ts';
import { interpret } from '#hl7v2/interpret.ts';
import { Message } from '#hl7v2/message.ts';
import { plainPolicy } from '../reading.ts';

const corpus = fileURLToPath(new URL('../../../../shared/corpus/', import.meta.url));
const index = `${corpus}index.csv`;

interface Row {
	path: string;
	expect: string;
}

/** RFC 4180, as far as the index uses it. */
function rowsOf(csv: string): Row[] {
	const lines = csv.split(/\r?\n/).filter((line) => line !== '');
	const cells = (line: string) =>
		[...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
	const names = cells(lines[0] ?? '');
	return lines
		.slice(1)
		.map((line) => Object.fromEntries(cells(line).map((cell, at) => [names[at] ?? '', cell])))
		.filter((row) => row['kind'] === 'hl7v2')
		.map((row) => ({ path: row['path'] ?? '', expect: row['expect'] ?? '' }));
}

function outcome(bytes: Uint8Array): string {
	try {
		const interpreted = interpret(Message.parse(bytes), plainPolicy);
		if (interpreted.kind === 'apply') JSON.stringify(interpreted.changeSet);
		return interpreted.kind;
	} catch (error) {
		if (error instanceof Failure) return `${error.code}: ${error.diagnostics}`;
		throw error;
	}
}

const asSent = (bytes: Buffer) => bytes;
const withReturns = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/\r?\n/g, '\r'), 'latin1');

describe('messages of public repositories', { skip: existsSync(index) ? false : 'the corpus is not here' }, () => {
	const rows = existsSync(index) ? rowsOf(readFileSync(index, 'utf8')) : [];
	for (const [form, transform] of [
		['as they are', asSent],
		['with segments ended by CR', withReturns],
	] as const) {
		test(`an acceptable message is applied, ${form}`, () => {
			const accepted = rows.filter((row) => row.expect === 'accept');
			const wrong = accepted
				.map(({ path }) => ({ path, outcome: outcome(transform(readFileSync(corpus + path))) }))
				.filter(({ outcome }) => outcome !== 'apply');
			assert.deepEqual(wrong, []);
			assert.ok(accepted.length > 200);
		});
		test(`a message to be refused is refused with a failure, ${form}`, () => {
			const refused = rows.filter((row) => row.expect === 'reject');
			const wrong = refused.filter(({ path }) => outcome(transform(readFileSync(corpus + path))) === 'apply');
			assert.deepEqual(wrong, []);
			assert.ok(refused.length > 200);
		});
	}
});
