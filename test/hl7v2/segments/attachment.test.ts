import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#core/json.ts';
import { failureOf, observations, read, stored } from '../reading.ts';

function attachmentOf(type: string, value: string): { attachment: JsonObject; flags: string[] } {
	const set = read('ORU^R01', ['PID|1||100', 'OBR|1||F1|PANEL^Panel^L', `OBX|1|${type}|K^K^L||${value}||||||F`]);
	const [extension] = stored(observations(set)[0]?.resource['extension'] ?? []) as { valueAttachment: JsonObject }[];
	return { attachment: extension?.valueAttachment ?? {}, flags: set.flags.map(({ text }) => text) };
}

const base64 = (latin1: string) => Buffer.from(latin1, 'latin1').toString('base64');
const assumed = ['OBX-5 names no encoding of table 0299 (ED-4); its data were read as base64'];

describe('the encoding of ED', () => {
	const files: [string, string, string][] = [
		['^application^pdf^', '%PDF-1.7 x', 'application/pdf'],
		['^AP^PDF^b64', '%PDF-1.7 x', 'application/pdf'],
		['^TEXT^PDF^A', '%PDF-1.7 x', 'application/pdf'],
		['^^application/pdf^', '%PDF-1.7 x', 'application/pdf'],
		['^TEXT^HTML^b64', '<p>x</p>', 'text/html'],
		['^TEXT^plain^Base-64', 'hello', 'text/plain'],
		['^AP^RTF^', '{\\rtf1 x}', 'application/rtf'],
		['^application^zip^', 'PK\x03\x04xyz', 'application/zip'],
		[
			'^application^vnd.openxmlformats-officedocument.wordprocessingml.document^',
			'PK\x03\x04xyz',
			'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
		],
		['^audio^mpeg^', 'ID3\x03xyz', 'audio/mpeg'],
		['^audio^x-wav^', 'RIFF\x01\x02\x03\x04WAVEfmt ', 'audio/x-wav'],
		['^video^mp4^', '\0\0\0\x20ftypisom', 'video/mp4'],
	];
	for (const [head, content, contentType] of files) {
		test(`${head} with a file in base64 is that file, flagged`, () => {
			const data = base64(content);
			assert.deepEqual(attachmentOf('ED', `${head}^${data}`), { attachment: { contentType, data }, flags: assumed });
		});
	}
	test('lines of base64 are one', () => {
		const data = base64('%PDF-1.7 and more text');
		const { attachment } = attachmentOf('ED', `^application^pdf^^${data.slice(0, 12)} ${data.slice(12)}`);
		assert.equal(attachment['data'], data);
	});
	for (const [head, text] of [
		['^TEXT^plain^', base64('%PDF-1.7 x')],
		['^application^pdf^', `${base64('%PDF-1.7 x')}!`],
		['^application^pdf^', base64('another file')],
		['^TEXT^plain^b64', 'hello!'],
		['^application^rtf^', '{x}'],
		['^application^constructor^', 'AAAA'],
	] as const) {
		test(`${head}^${text} is text, which is encoded`, () => {
			const { attachment, flags } = attachmentOf('ED', `${head}^${text}`);
			assert.deepEqual([attachment['data'], flags], [base64(text), []]);
		});
	}
	test('Base64 by ED-4 is not flagged', () => {
		const data = base64('%PDF-1.7 x');
		assert.deepEqual(attachmentOf('ED', `^application^pdf^Base64^${data}`), {
			attachment: { contentType: 'application/pdf', data },
			flags: [],
		});
	});
});

describe('the media type of ED and RP', () => {
	for (const [pair, expected] of [
		['audio^mpeg', 'audio/mpeg'],
		['AUDIO^MP4', 'audio/mp4'],
		['AU^mpeg', 'audio/mpeg'],
		['audio^basic', 'audio/basic'],
		['video^mpeg', 'video/mpeg'],
		['AP^MPEG', 'video/mpeg'],
		['video^quicktime', 'video/quicktime'],
		['audio^x-wav', 'audio/x-wav'],
		['application^zip', 'application/zip'],
		['Text^CSV', 'text/csv'],
		['application^fhir+json', 'application/fhir+json'],
		['multipart^related', 'multipart/related'],
		['text^rtf', 'application/rtf'],
		['TEXT^PDF', 'application/pdf'],
		['multipart^x-hl7-cda-level-one', 'application/hl7-sda+xml'],
		['text^two words', undefined],
		['text^', undefined],
		['AP^zip', undefined],
		['image^PICT', undefined],
	] as const) {
		test(`${pair} is ${expected ?? 'none'}`, () => {
			assert.equal(attachmentOf('RP', `https://x.example/a^^${pair}`).attachment['contentType'], expected);
			if (pair.startsWith('image')) return;
			assert.equal(attachmentOf('ED', `^${pair}^A^text`).attachment['contentType'], expected ?? 'application/octet-stream');
		});
	}
	test('image with a subtype that is not listed is an image where it has data', () => {
		const order = ['PID|1||100', 'OBR|1||F1|PANEL^Panel^L', 'OBX|1|ED|K^K^L||^image^x-pict^Base64^AAAA||||||F'];
		assert.equal(failureOf(() => read('ORU^R01', order)).code, 'business-rule');
	});
});
