import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { definitionOf } from '#fhir/resources/index.ts';
import { shapedText } from '#fhir/shape.ts';
import type { ResourceType } from '#record/table-shape.ts';

/** Reduces each line of NDJSON to some elements of its resource, and marks it as a part. */
export class ShapedLines extends Transform {
	readonly #shape: (line: string) => string;
	readonly #decoder = new StringDecoder('utf8');
	#rest = '';

	constructor(type: ResourceType, elements: readonly string[]) {
		super();
		const definition = definitionOf(type);
		if (definition === undefined) throw new Error(`${type} has no definition`);
		this.#shape = (line) => `${shapedText(definition, line, { kind: 'elements', elements })}\n`;
	}

	override _transform(chunk: Buffer, _encoding: string, done: (error: null, lines: string) => void): void {
		const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
		this.#rest = lines.pop() ?? '';
		done(null, lines.map(this.#shape).join(''));
	}
}
