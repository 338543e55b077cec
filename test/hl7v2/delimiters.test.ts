import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '#core/failure.ts';
import { findHeader, readDelimiters } from '#hl7v2/delimiters.ts';

describe('the header', () => {
	const offsets: [string, string, number][] = [
		['at the start', 'MSH|', 0],
		['behind a byte order mark', '\xef\xbb\xbfMSH|', 3],
		['behind white space and NUL', ' \t\r\n\0MSH|', 5],
		['behind a second start of block', '\x0bMSH|', 1],
		['behind both', '\xef\xbb\xbf\r\nMSH|', 5],
		['not at all', 'PID|1', -1],
		['behind something else', 'x MSH|', -1],
		['in small letters', 'msh|', -1],
		['in nothing', '', -1],
	];
	for (const [name, text, offset] of offsets) test(`is found ${name}`, () => assert.equal(findHeader(text), offset));
});

describe('delimiters', () => {
	// Field, component, repetition, escape, subcomponent and truncation.
	const stated: [string, string][] = [
		['MSH|^~\\&|', '| ^ ~ \\ & '],
		['MSH|^~\\&#|', '| ^ ~ \\ & #'],
		['MSH|^~\\\\&|', '| ^ ~ \\ & '],
		['MSH$%*!@$', '$ % * ! @ '],
		['MSH|^~\\|', '| ^ ~ \\  '],
		['MSH|^~\\&', '| ^ ~ \\ & '],
		['MSH|^~\\&\rPID|1', '| ^ ~ \\ & '],
	];
	for (const [text, expected] of stated) {
		test(`are read from ${JSON.stringify(text)}`, () => {
			const read = readDelimiters(text, 0);
			const all = [read.field, read.component, read.repetition, read.escape, read.subcomponent, read.truncation];
			assert.equal(all.join(' '), expected);
		});
	}

	test('are read where the header begins', () => assert.equal(readDelimiters('\r\nMSH$%*!@$', 2).field, '$'));

	for (const text of ['MSH', 'MSH|', 'MSH|^~|', 'MSH|^^\\&|', 'MSHa^~\\&a', 'MSH|^~\\& |', 'MSH|^~\\&#!|', 'MSH|^~1&|', 'MSH\r^~\\&\r']) {
		test(`that repeat, are missing or cannot delimit are refused: ${JSON.stringify(text)}`, () => {
			assert.throws(
				() => readDelimiters(text, 0),
				(error) => error instanceof Failure && error.code === 'not-hl7' && error.location?.field === 2,
			);
		});
	}
});
