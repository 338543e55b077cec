import { strippingArguments } from './stripping.ts';

/** Options by which Node.js finds and reads modules. Each has a value, behind `=` or as the next argument. */
const moduleOptions: ReadonlySet<string> = new Set([
	'--import',
	'--require',
	'-r',
	'--loader',
	'--experimental-loader',
	'--conditions',
	'-C',
]);

/** Other processes of the node do not take these over: a debugger has its port to itself, and tests are run by one process. */
const ofOneProcess = /^--(inspect|test|watch)/;

/** An option with its value. */
function divided(given: readonly string[]): string[][] {
	const options: string[][] = [];
	for (let at = 0; at < given.length; at++) {
		const argument = given[at] ?? '';
		options.push(moduleOptions.has(argument) ? [argument, given[++at] ?? ''] : [argument]);
	}
	return options;
}

function isOfModules([option = '']: readonly string[]): boolean {
	return moduleOptions.has(option.split('=', 1)[0] ?? '');
}

/**
 * Returns the arguments of Node.js for a thread: of those that the process was given only the ones by which modules are read. The others, such as
 * `--max-old-space-size` or `--use-openssl-ca`, hold for the whole process, and Node.js begins no thread that is given one.
 */
export function threadArguments(given: readonly string[] = process.execArgv): string[] {
	return [...divided(given).filter(isOfModules).flat(), ...strippingArguments];
}

/** Returns the arguments of Node.js for another process of the node, which reads its modules as `start.mjs` says. */
export function processArguments(given: readonly string[] = process.execArgv): string[] {
	const kept = divided(given).filter((option) => !isOfModules(option) && !ofOneProcess.test(option[0] ?? ''));
	return [...kept.flat(), ...strippingArguments];
}
