import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseCpuSeconds, type ProcessorTime, serviceProcesses, statFields } from '../../bench/load/processor.ts';
import { observe, saturatedBy, type Usage } from '../../bench/load/usage.ts';

const own = (seconds: number, ended = 0): ProcessorTime => ({ own: seconds, ended });

test('fields of a process are found behind a name with spaces and parentheses', () => {
	assert.deepEqual(statFields('12 (a (b) c) S 1 2'), ['S', '1', '2']);
});

test('the processor time of a database stays when one of its processes ends', () => {
	const alive = new Map([
		[1, own(2)],
		[10, own(5)],
		[11, own(7)],
	]);
	const processes = { timeOf: (pid: number) => alive.get(pid), childrenOf: () => [...alive.keys()].filter((pid) => pid !== 1) };
	assert.equal(databaseCpuSeconds(1, processes), 14);
	alive.delete(11);
	alive.set(1, own(2, 7));
	assert.equal(databaseCpuSeconds(1, processes), 14);
});

test('a process that ends while the others are read is neither counted twice nor lost', () => {
	let reads = 0;
	const processes = {
		// It ends between the first reading of the parent and the list of its children.
		timeOf: (pid: number) => (pid === 1 ? own(2, reads++ === 0 ? 0 : 7) : own(5)),
		childrenOf: () => [10],
	};
	assert.equal(databaseCpuSeconds(1, processes), 14);
});

test('the processes of a service are all that it started but the database', () => {
	const below = new Map([
		[1, [2, 3]],
		[2, [20, 21]],
		[3, [30]],
	]);
	assert.deepEqual(serviceProcesses(1, 2, { childrenOf: (pid) => below.get(pid) ?? [] }), [1, 3, 30]);
});

test('what is used is never negative, and the main thread of this process is seen at work', { skip: process.platform !== 'linux' }, () => {
	const used = observe({ pid: process.pid, databasePid: 0 });
	const untilMs = performance.now() + 150;
	while (performance.now() < untilMs);
	const usage = used(0.5);
	for (const [name, cores] of Object.entries(usage)) assert.ok(cores >= 0, name);
	assert.ok(usage.main > 0 && usage.main === usage.busiestMain);
});

test('what was saturated is the first that had no time left', () => {
	const idle: Usage = { driver: 0, busiestMain: 0, main: 0, others: 0, busiestOther: 0, database: 0, machine: 0, waiting: 0 };
	const of = (more: Partial<Usage>) => saturatedBy({ ...idle, ...more }, 2);
	assert.equal(of({ driver: 0.95, busiestMain: 0.95 }), 'the driver');
	assert.equal(of({ busiestMain: 0.93, machine: 1.9 }), 'the main thread');
	assert.equal(of({ busiestOther: 0.93 }), 'a worker thread');
	assert.equal(of({ machine: 1.85 }), 'all 2 cores');
	assert.equal(of({ machine: 1.2, waiting: 0.4 }), 'the disk');
	assert.equal(of({}), 'round trips');
});
