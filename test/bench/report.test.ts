import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { needsOf, network, totalOf } from '../../bench/report/capacity.ts';
import { documents, keptRuns } from '../../bench/report/documents.ts';
import { reportOf } from '../../bench/report/html.ts';
import { performanceDocument } from '../../bench/report/performance.ts';
import { barPlot, figure, linePlot, ticks } from '../../bench/report/plot.ts';
import { allRatios, ratiosOf } from '../../bench/suite/ratios.ts';
import { givenVariables, Recorder } from '../../bench/suite/recorder.ts';
import type { Line, Result } from '../../bench/suite/result.ts';

const line = (more: Partial<Line> = {}): Line => ({
	section: 'c-store',
	work: 'C-STORE 10 KB',
	subject: 'Tributary',
	kind: 'product',
	connections: 4,
	perSecond: 300,
	p50Ms: 2,
	p99Ms: 9,
	failed: 0,
	driver: 'store-load (C)',
	...more,
});

function resultWith(lines: Line[], more: Partial<Result> = {}): Result {
	return {
		...new Recorder().result('npm run bench'),
		startedAt: '2026-11-22T16:55:00.000Z',
		commit: 'abcdef12',
		machine: 'a machine',
		lines,
		...more,
	};
}

describe('ratios', () => {
	const orthanc = line({ subject: 'Orthanc 1.10.1', kind: 'peer', perSecond: 200 });

	test('a line is measured against the peers that did the same in the same run', () => {
		assert.deepEqual(ratiosOf(line(), resultWith([line(), orthanc])), [{ other: 'Orthanc', ratio: 1.5 }]);
	});

	test('another load, another driver, a peer that failed, and a run without peers give none', () => {
		for (const other of [{ connections: 8 }, { driver: 'JavaScript' }, { failed: 1 }, { work: 'C-STORE CT' }]) {
			assert.deepEqual(ratiosOf(line(), resultWith([line(), { ...orthanc, ...other }])), [], JSON.stringify(other));
		}
		assert.deepEqual(allRatios(resultWith([line()])), {});
	});

	test('a read is measured against the same answer from memory', () => {
		const read = line({ section: 'fhir', work: 'FHIR read', driver: 'wrk', perSecond: 100 });
		const fromMemory = { ...read, work: 'the same answer from memory', subject: 'uWebSockets.js', kind: 'limit' as const, perSecond: 400 };
		assert.deepEqual(allRatios(resultWith([read, fromMemory])), { 'FHIR read, 4 (wrk) ÷ uWebSockets.js': 0.25 });
	});
});

describe('plots', () => {
	test('marks of an axis are round and span the values', () => {
		assert.deepEqual(ticks(0, 47), [0, 10, 20, 30, 40, 50]);
		assert.deepEqual(ticks(0, 0.9), [0, 0.2, 0.4, 0.6, 0.8, 1]);
		assert.deepEqual(ticks(0, 0), [0, 0.2, 0.4, 0.6, 0.8, 1]);
		assert.deepEqual([figure(1234.5), figure(12.345), figure(Number.NaN)], ['1,235', '12.3', '–']);
	});

	test('a plot has a line for each series within its frame, names escaped; what has no figure is left out', () => {
		const svg = linePlot({
			title: 'a < b',
			x: 'load',
			y: 'ms',
			logarithmic: true,
			series: [
				{
					name: 'one & two',
					points: [
						[1, 1],
						[1000, 500],
						[5, Number.NaN],
						[7, 0],
					],
				},
			],
		});
		assert.match(svg, /aria-label="a &lt; b \(ms\)"/);
		assert.match(svg, /one &amp; two/);
		const [, points = ''] = /<polyline[^>]* points="([^"]*)"/.exec(svg) ?? [];
		const places = points.split(' ').map((place) => place.split(',').map(Number));
		assert.equal(places.length, 2);
		for (const [x = -1, y = -1] of places) assert.ok(x >= 0 && x <= 620 && y >= 0 && y <= 320, points);
	});

	test('no series at all still makes a plot, and a bar is as long as its parts together', () => {
		assert.match(linePlot({ title: 'none', x: '', y: '', series: [] }), /<svg/);
		const svg = barPlot({ title: 'CPU', x: 'µs', parts: ['a', 'b'], bars: [{ name: 'x', values: [10, 30] }] });
		const widths = [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)].map(
			([, from, width]) => [Number(from), Number(width)] as const,
		);
		const [first, second] = widths;
		assert.ok(first && second && Math.abs(first[0] + first[1] - second[0]) < 0.2 && Math.abs(second[1] - 3 * first[1]) < 0.3);
	});
});

describe('the report', () => {
	const lines = [1, 4].map((connections) =>
		line({ connections, usage: { driver: 0.1, main: 0.5, others: 0.2, database: 0.3, machine: 1.1 } }),
	);

	test('is one page that needs nothing else', () => {
		const html = reportOf(
			resultWith(lines, {
				notes: ['<script>'],
				curves: [{ section: 'soak', title: 'Memory', x: 's', y: 'MB', series: [{ name: 'm', points: [[1, 2]] }] }],
			}),
		);
		assert.doesNotMatch(html, /<script|<link|\bsrc=|\bhref=|url\(/);
		assert.equal(html.match(/<svg/g)?.length, 4);
		assert.match(html, /what was acknowledged is stored/);
	});

	test('says what was wrong', () => {
		assert.match(reportOf(resultWith(lines, { faults: ['1 lost (a)'] })), /class="wrong">1 lost \(a\)/);
		assert.match(performanceDocument([{ name: 'suite', result: resultWith(lines, { faults: ['1 lost (a)'] }) }]), /The run had faults/);
	});
});

test('a recorder counts a failed answer of the product as a fault, and one of a peer not', () => {
	const recorder = new Recorder();
	recorder.line(line({ failed: 2 }));
	recorder.line(line({ failed: 2, kind: 'peer' }));
	assert.deepEqual(recorder.faults, ['C-STORE 10 KB, 4 connections: 2 failed']);
});

test('a command is kept with the variables that change what is measured, and with no other', () => {
	const environment = {
		PROCESSES: '3',
		BENCH_SECONDS: '2',
		FHIR_BENCH_PATIENTS: '1000',
		SHELL: 'sh',
		DATABASE_URL: 'postgres://secret',
	};
	assert.equal(givenVariables(environment), 'PROCESSES=3 BENCH_SECONDS=2 FHIR_BENCH_PATIENTS=1000 ');
});

test('what a network needs is the cost of each kind of work times how often it comes', () => {
	const cost = (work: string) => ({ work, serviceMs: 0.5, databaseMs: 0.25, walBytes: 1000, storedBytes: 2000 });
	const [messages, small] = needsOf([cost('HL7 v2 message over MLLP'), cost('C-STORE 10 KB'), cost('FHIR Observation create')]);
	assert.ok(messages && small);
	assert.deepEqual([messages.serviceCores, messages.databaseCores, messages.walMbPerSecond], [10, 5, 20]);
	assert.equal(small.perSecond, network.instancesPerSecond * 0.8);
	assert.equal(totalOf([messages, small]).serviceCores, 12);
});

test('docs/performance.md, docs/capacity.md and bench/baseline.json are what the results in bench/results give (npm run bench -- --document)', () => {
	assert.ok(keptRuns().length > 0);
	for (const [path, text] of Object.entries(documents())) {
		assert.equal(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), text, path);
	}
});
