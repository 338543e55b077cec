import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { AdministrationError, type OperationContext } from '#administration/context.ts';
import type { FileContent } from '#administration/file-content.ts';
import { effectOf, type Operation } from '#administration/operation.ts';
import { perform } from '#administration/perform.ts';
import { reasonInWords } from '#storage/reason-in-words.ts';
import { ConfigurationError } from '../config.ts';
import { type BuiltIn, givenOf, usageOf } from './built-in.ts';
import { builtIns, describedCommands } from './built-ins.ts';
import { type CliHooks, type CliStreams, UsageError } from './command.ts';
import { follow } from './follow.ts';
import { helpAbout, noSuchCommand } from './help.ts';
import { type Opened, printed, withOpened } from './opened.ts';
import { byOptions, type Call, type Command, callOf, commands } from './operation-command.ts';
import { withContext } from './operation-context.ts';

/**
 * Runs the command line and returns the exit code: 0 for success, 1 for a failure, 2 for wrong usage or configuration. With `--json`,
 * a command prints exactly one JSON document on stdout.
 */
export async function runCli(argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	try {
		return await dispatch(argv, streams, hooks);
	} catch (error) {
		streams.stderr.write(`tributary: ${reasonInWords(error)}\n`);
		return error instanceof UsageError || error instanceof ConfigurationError ? 2 : 1;
	}
}

async function dispatch(given: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const [first = 'start', ...rest] = given;
	if (first === '--version') {
		streams.stdout.write(`${hooks.version}\n`);
		return 0;
	}
	const argv = first === '--help' || first === '-h' ? ['help', ...rest] : [first, ...rest];
	// `config plan` is an operation, `config` alone is none.
	const command = commands.find(({ name }) => isNamed(name, argv));
	if (command) return carryOut(command, argv.slice(wordsOf(command.name)), streams, hooks);
	// `backup list` is another command than `backup`.
	const [builtIn] = builtIns.filter(({ name }) => isNamed(name, argv)).sort((one, other) => other.name.length - one.name.length);
	if (builtIn) return runBuiltIn(builtIn, argv, streams, hooks);
	if (!argv.includes('--help') && !argv.includes('-h')) throw noSuchCommand(argv, describedCommands());
	streams.stdout.write(
		helpAbout(
			argv.filter((word) => !word.startsWith('-')),
			describedCommands(),
			streams,
		),
	);
	return 0;
}

function isNamed(name: string, argv: readonly string[]): boolean {
	return name === argv.slice(0, wordsOf(name)).join(' ');
}

/** Most commands have two words. */
function wordsOf(name: string): number {
	return name.split(' ').length;
}

async function runBuiltIn(builtIn: BuiltIn, argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const given = givenOf(builtIn, argv.slice(wordsOf(builtIn.name)));
	if (given === undefined) {
		streams.stdout.write(helpAbout(builtIn.name.split(' '), describedCommands(), streams));
		return 0;
	}
	const { words = [], options = [] } = builtIn;
	const isMissing = words.some(({ isRequired }, index) => isRequired && given.words[index] === undefined);
	const isTooMany = given.words.length > words.length && words.at(-1)?.isRepeated !== true && builtIn.name !== 'start';
	if (isMissing || isTooMany) throw new UsageError(`usage: ${usageOf(builtIn)}`);
	const absent = options.find(({ name, isRequired }) => isRequired && (given.text(name) ?? '') === '');
	if (absent !== undefined) throw new UsageError(`--${absent.name} is required; usage: ${usageOf(builtIn)}`);
	return builtIn.run(given, streams, hooks);
}

async function carryOut(command: Command, argv: readonly string[], streams: CliStreams, hooks: CliHooks): Promise<number> {
	const call = await callOf(command, argv);
	if (call === undefined) {
		streams.stdout.write(helpAbout(command.name.split(' '), describedCommands(), streams));
		return 0;
	}
	const create = effectOf(call.operation) === 'change';
	const result = await withOpened(hooks.readConfig(), (opened) => runOn(opened, call, streams, hooks), { create });
	if (result === followed) return 0;
	const { commandLine } = call.operation;
	if (commandLine === 'none') throw new Error(`'${call.operation.name}' is no command`);
	if (commandLine.text !== undefined && !call.json) streams.stdout.write(commandLine.text(result));
	else printed(result, call, streams);
	return commandLine.exitCode?.(result) ?? (commandLine.isFailure?.(result) ? 1 : 0);
}

function runOn(opened: Opened, { operation, inputs, repeated, json, to }: Call, streams: CliStreams, hooks: CliHooks): Promise<unknown> {
	return withContext(opened, streams, hooks, async (context) => {
		const { commandLine } = operation;
		if (commandLine !== 'none' && commandLine.follows === true) {
			const from = inputs[0]?.['since'];
			const read = (since: string) => performed(operation, context, { ...inputs[0], since });
			await follow({ read, from: typeof from === 'string' ? from : undefined, isJson: json }, streams);
			return followed;
		}
		const results: unknown[] = [];
		for (const input of inputs) {
			const result = await performed(operation, context, input);
			results.push(to === undefined ? result : await written(result as FileContent, to));
		}
		return repeated ? results : results[0];
	});
}

/** Carries out an operation; its refusal names the options of the command line, by which people answer it. */
async function performed(operation: Operation, context: OperationContext, input: unknown): Promise<unknown> {
	try {
		return await perform(operation, context, input);
	} catch (error) {
		if (!(error instanceof AdministrationError)) throw error;
		throw new AdministrationError(byOptions(operation, error.message), error.fault, error.field);
	}
}

/** Everything is printed already. */
const followed = Symbol('followed');

/** Writes the file that an operation gives. One that is there already is not written over, and half a file is not left behind. */
async function written({ bytes }: FileContent, to: string): Promise<{ file: string; bytes: number }> {
	const file = createWriteStream(to, { flags: 'wx' });
	try {
		await pipeline(bytes, file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(to, { force: true });
		throw error;
	}
	return { file: to, bytes: file.bytesWritten };
}
