import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { optimisationFlags, optimiseSooner } from '#core/optimisation.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';

/** A function is called a thousand times, with pauses in which V8 may compile it; what is told is whether it has optimised code then. */
const program = `
	const { setFlagsFromString } = require('node:v8');
	setFlagsFromString('--allow-natives-syntax');
	for (const flag of process.argv.slice(1)) setFlagsFromString(flag);
	const work = (value) => { let sum = 0; for (const part of [value, 2, 3]) sum += part; return sum; };
	let rounds = 0;
	const round = () => {
		for (let call = 0; call < 10; call++) work(call);
		if (++rounds < 100) setTimeout(round, 1);
		else console.log((eval('%GetOptimizationStatus(work)') & 64) !== 0);
	};
	round();
`;

test('V8 knows the flags by which functions have optimised code sooner', () => {
	// At run time an unknown flag is passed over without a word; at the start it is refused.
	const { status, stderr } = spawnSync(process.execPath, [...optimisationFlags, '--eval', ''], { encoding: 'utf8' });
	assert.equal(status, 0, stderr);
});

test('a function that is called a thousand times has optimised code by them, though they are set at run time', () => {
	const isOptimised = (flags: readonly string[]) =>
		spawnSync(process.execPath, ['--no-maglev', '--eval', program, '--', ...flags], { encoding: 'utf8' }).stdout.trim();
	assert.deepEqual([isOptimised([]), isOptimised(optimisationFlags)], ['false', 'true']);
});

test('they are set when the start is over, unless the service has closed before; nothing waits for that', () => {
	const timers = new ManualTimers();
	const optimising = optimiseSooner(timers);
	assert.deepEqual([timers.due, timers.holdsProcess], [[10_000], false]);
	optimising.stop();
	assert.deepEqual(timers.due, []);
});
