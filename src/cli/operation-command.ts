import { readFile } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { fileContent } from '#administration/file-content.ts';
import { faultsOf, faultText } from '#administration/input-faults.ts';
import { meaningOf } from '#administration/meanings.ts';
import { inputOfTexts, type Member, membersOf } from '#administration/members.ts';
import type { CommandLine, Operation } from '#administration/operation.ts';
import { fileOperations } from '#administration/operations/files.ts';
import { operations } from '#administration/operations/index.ts';
import { type Argument, commonOptions, type DescribedCommand, flag, type Form as ShownForm, UsageError } from './command.ts';
import { didYouMean } from './suggest.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** A command is one operation, or several that flags distinguish. */
export interface Command {
	name: string;
	summary: string;
	/** The forms of the command. The one without a flag comes first. */
	forms: readonly Form[];
}

interface Form {
	operation: Operation;
	commandLine: CommandLine;
	flag: string | undefined;
}

/** The operation to carry out. A repeated positional gives several inputs. */
export interface Call {
	operation: Operation;
	inputs: readonly Record<string, unknown>[];
	repeated: boolean;
	json: boolean;
	wide: boolean;
	/** The path to which the file of the operation is written. */
	to: string | undefined;
}

const forms: readonly Form[] = [...operations, ...fileOperations].flatMap((operation) => {
	const { commandLine } = operation;
	return commandLine === 'none' ? [] : [{ operation, commandLine, flag: commandLine.within?.flag }];
});

const commandOf = ({ operation, commandLine }: Form) => commandLine.within?.command ?? operation.name;

/** The commands of the table of operations, in its order. */
export const commands: readonly Command[] = forms
	.filter((form) => form.flag === undefined)
	.map(({ operation: { name, summary } }) => ({ name, summary, forms: forms.filter((form) => commandOf(form) === name) }));

function optionOf({ commandLine }: Form, member: string): string {
	return commandLine.options?.[member] ?? member.replaceAll('_', '-');
}

function split(form: Form): { positionals: Member[]; options: Member[] } {
	const named = form.commandLine.positionals ?? [];
	const members = membersOf(form.operation);
	return {
		positionals: named.flatMap((name) => members.filter((member) => member.name === name)),
		options: members.filter(({ name }) => !named.includes(name)),
	};
}

function placeholder(form: Form, { name, kind, choices }: Member): string {
	if (kind === 'boolean') return 'on|off';
	return choices?.join('|') ?? `<${form.commandLine.values?.[name] ?? name.replaceAll('_', '-')}>`;
}

function givesFile({ operation }: Form): boolean {
	return operation.output === fileContent;
}

/** Writes a usage line: `tributary site add <slug> --name <text> [--ae-title <AE>]`. */
function usageOf(command: Command, form: Form): string {
	const { positionals, options } = split(form);
	const words = positionals.map((member) => `${placeholder(form, member)}${form.commandLine.repeated ? '...' : ''}`);
	const option = (member: Member) => {
		const text = member.flag ? `--${optionOf(form, member.name)}` : `--${optionOf(form, member.name)} ${placeholder(form, member)}`;
		return `${member.required ? text : `[${text}]`}${member.kind === 'list' ? '...' : ''}`;
	};
	const sorted = [...options.filter(({ required }) => required), ...options.filter(({ required }) => !required)];
	const to = givesFile(form) ? ['--to <file>'] : [];
	return ['tributary', command.name, ...(form.flag ? [`--${form.flag}`] : []), ...words, ...to, ...sorted.map(option)].join(' ');
}

/** Returns what the help and the completion of a command show. */
export function described(command: Command): DescribedCommand {
	const forms = command.forms.map((form): ShownForm => {
		const { positionals, options } = split(form);
		const { repeated = false } = form.commandLine;
		const words = positionals.map((member) => ({ ...argumentOf(form, member), isRepeated: repeated }));
		const distinct = form.flag === undefined ? [] : [flagOf(form.flag, form.operation.summary)];
		return {
			usage: usageOf(command, form),
			summary: form.operation.summary,
			words,
			options: [...distinct, ...options.map((member) => argumentOf(form, member))],
		};
	});
	return { name: command.name, summary: command.summary, forms };
}

function argumentOf(form: Form, member: Member): Argument {
	const positional = form.commandLine.positionals?.includes(member.name) ?? false;
	return {
		name: positional ? member.name : optionOf(form, member.name),
		value: member.flag ? undefined : placeholder(form, member),
		choices: member.choices ?? (member.kind === 'boolean' && !member.flag ? ['on', 'off'] : []),
		meaning: meaningOf(form.operation, member.name),
		isRequired: member.required,
		isRepeated: member.kind === 'list',
	};
}

function flagOf(name: string, meaning: string): Argument {
	return { name, value: undefined, choices: [], meaning, isRequired: true, isRepeated: false };
}

/**
 * @returns undefined if the user asks for help
 * @throws UsageError if the arguments do not fit the command
 */
export async function callOf(command: Command, argv: readonly string[]): Promise<Call | undefined> {
	const form = command.forms.find((each) => each.flag !== undefined && argv.includes(`--${each.flag}`)) ?? command.forms[0];
	if (form === undefined) throw new Error(`the command '${command.name}' has no operation`);
	const { positionals, options } = split(form);
	const { values, positionals: words } = parse(argv, {
		...Object.fromEntries(
			options.map((member): [string, Options[string]] => [
				optionOf(form, member.name),
				member.flag ? flag : { type: 'string', multiple: member.kind === 'list' },
			]),
		),
		...(form.flag === undefined ? {} : { [form.flag]: flag }),
		...(givesFile(form) ? { to: { type: 'string' as const } } : {}),
	});
	if (values['help'] === true) return undefined;
	const { repeated = false } = form.commandLine;
	checkCount(command, form, positionals, words, repeated);
	const to = givesFile(form) ? values['to'] : undefined;
	if (givesFile(form) && to === undefined) throw new UsageError('--to is required: it names the file to write');
	const texts: [string, string][] = [];
	for (const member of options) texts.push(...(await optionTexts(form, member, values[optionOf(form, member.name)])));
	const rounds = repeated ? words.map((word) => [word]) : [words];
	const inputs: Call['inputs'][number][] = [];
	for (const round of rounds) {
		const named = await Promise.all(positionals.map((member, index) => wordOf(form, member, round[index] ?? '')));
		inputs.push(inputOfTexts(form.operation, [...named, ...texts]));
	}
	for (const input of inputs) refuseUnfit(form, input);
	return {
		operation: form.operation,
		inputs,
		repeated,
		json: values['json'] === true,
		wide: values['wide'] === true,
		to: to === undefined ? undefined : String(to),
	};
}

/** Faults of the input are told before anything is opened, by the names of the command line. */
function refuseUnfit(form: Form, input: Record<string, unknown>): void {
	const { error } = form.operation.input.safeParse(input);
	if (error === undefined) return;
	const { positionals = [] } = form.commandLine;
	const called = (member: string) => {
		if (member === '') return undefined;
		return positionals.includes(member) ? `<${form.commandLine.values?.[member] ?? member}>` : `--${optionOf(form, member)}`;
	};
	throw new UsageError(
		faultsOf(error)
			.map((fault) => faultText(fault, called(fault.member)))
			.join('; '),
	);
}

/**
 * Names the members of an input in the text of a refusal as the command line has them: `confirm_overlap` is `--confirm-overlap`. A member
 * whose name has no underscore is a word of the sentence, too, and stays.
 */
export function byOptions(operation: Operation, text: string): string {
	const form = forms.find((each) => each.operation === operation);
	if (form === undefined) return text;
	const options = new Set(split(form).options.map((member) => member.name));
	return text.replaceAll(/(?<![\w-])[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (word) => (options.has(word) ? `--${optionOf(form, word)}` : word));
}

/** More words than a person types; longer lists are sent to the admin API. */
const repeatedMax = 1000;

/** Returns the text of a positional member, which may be that of a file. */
async function wordOf({ commandLine }: Form, { name }: Member, word: string): Promise<[string, string]> {
	return [name, await fromFile(word, commandLine.files?.[name])];
}

function checkCount(command: Command, form: Form, positionals: readonly Member[], words: readonly string[], repeated: boolean): void {
	const missing = positionals[words.length];
	const usage = `usage: ${usageOf(command, form)}`;
	if (missing !== undefined) throw new UsageError(`name a ${form.commandLine.values?.[missing.name] ?? missing.name}; ${usage}`);
	if (words.length > (repeated ? repeatedMax : positionals.length)) throw new UsageError(usage);
}

/** Returns the texts of an option, each with the name of its member. */
async function optionTexts(form: Form, member: Member, given: unknown): Promise<[string, string][]> {
	const option = `--${optionOf(form, member.name)}`;
	if (given === undefined) {
		if (!member.required) return [];
		throw new UsageError(form.flag === undefined ? `${option} is required` : `--${form.flag} requires ${option}`);
	}
	const texts = [given].flat().map(String);
	if (member.kind === 'boolean' && !member.flag && !texts.every((text) => ['on', 'off', ''].includes(text))) {
		throw new UsageError(`${option} must be on or off`);
	}
	const { choices } = member;
	if (choices !== undefined && !texts.flatMap((text) => text.split(',')).every((text) => choices.includes(text.trim()) || text === '')) {
		throw new UsageError(`${option} must be ${choices.join(' or ')}`);
	}
	const file = form.commandLine.files?.[member.name];
	return Promise.all(texts.map(async (text): Promise<[string, string]> => [member.name, await fromFile(text, file)]));
}

async function fromFile(text: string, kind: 'text' | 'content' | 'base64' | undefined): Promise<string> {
	if (kind === 'base64') return readFile(text, 'base64');
	if (kind === 'content') return readFile(text, 'utf8');
	return kind === 'text' && text.startsWith('@') ? readFile(text.slice(1), 'utf8') : text;
}

/** @throws UsageError */
export function parse(argv: readonly string[], options: Options): { values: Record<string, unknown>; positionals: string[] } {
	const known: Options = { ...options, ...Object.fromEntries(commonOptions.map(({ name }) => [name, flag])) };
	try {
		return parseArgs({ args: [...argv], options: known, allowPositionals: true });
	} catch (error) {
		throw new UsageError(optionFault(error as NodeJS.ErrnoException, Object.keys(known)));
	}
}

/** Says what is wrong with an option, without the advice that Node.js gives to programmers. */
function optionFault({ code, message }: NodeJS.ErrnoException, names: readonly string[]): string {
	const [, option = ''] = /'(-[^' ]*)/.exec(message) ?? [];
	if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
		return `there is no option '${option}'${didYouMean(
			option,
			names.map((name) => `--${name}`),
		)}`;
	if (/argument (?:missing|is ambiguous)/.test(message)) return `${option} needs a value`;
	return /does not take an argument/.test(message) ? `${option} takes no value` : message;
}
