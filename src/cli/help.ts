import { type Argument, type CliStreams, commonOptions, type DescribedCommand, type Form, UsageError } from './command.ts';
import { wrapped } from './print.ts';
import { didYouMean } from './suggest.ts';

/** Texts stay readable where the terminal is very wide or is none. */
const widest = 120;
const narrowest = 60;

function widthOf({ stdout }: CliStreams): number {
	return Math.max(narrowest, Math.min(stdout.columns ?? widest, widest));
}

/** Writes rows of two columns; what does not fit is continued below. */
function twoColumns(rows: readonly (readonly [string, string])[], width: number): string {
	const first = Math.max(...rows.map(([name]) => name.length));
	// A long name has a line of its own, so that it does not push all texts to the right.
	const column = Math.min(first, Math.floor(width / 3));
	return rows
		.map(([name, text]) => {
			const [head = '', ...rest] = wrapped(text, width - column - 4);
			const start = name.length > column ? `  ${name}\n${' '.repeat(column + 4)}${head}` : `  ${name.padEnd(column)}  ${head}`;
			return [start, ...rest.map((line) => `${' '.repeat(column + 4)}${line}`)].join('\n').trimEnd();
		})
		.map((text) => `${text}\n`)
		.join('');
}

/** The list of all commands. */
export function generalHelp(commands: readonly DescribedCommand[], streams: CliStreams): string {
	const rows = commands.map(({ name, summary }) => [name, summary] as const);
	const width = Math.max(widthOf(streams), Math.max(...rows.map(([name]) => name.length)) * 3);
	return `tributary <command> [--json]; 'tributary help <command>' explains its options\n\n${twoColumns(rows, width)}`;
}

function leadOf({ name, value, isRequired, isRepeated }: Argument): string {
	const option = `--${name}${value === undefined ? '' : ` ${value}`}`;
	return `${option}${isRepeated ? '...' : ''}${isRequired ? ' (required)' : ''}`;
}

/** Explains a command: each way to use it, with its words and options. */
function commandHelp({ forms }: DescribedCommand, streams: CliStreams): string {
	const width = widthOf(streams);
	return forms.map((form) => formHelp(form, width)).join('\n');
}

function formHelp({ usage, summary, words, options }: Form, width: number): string {
	const rows = [
		...words.map((word) => [`${word.value ?? word.name}${word.isRepeated ? '...' : ''}`, word.meaning] as const),
		...[...options.filter(({ isRequired }) => isRequired), ...options.filter(({ isRequired }) => !isRequired), ...commonOptions].map(
			(option) => [leadOf(option), option.meaning] as const,
		),
	];
	const sentence = wrapped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, width).join('\n');
	return `${usage}\n\n${sentence}\n\n${twoColumns(rows, width)}`;
}

/**
 * Returns the help about the words behind `help`, or before `--help`: everything, a noun or a command.
 * @throws UsageError if they name nothing
 */
export function helpAbout(words: readonly string[], commands: readonly DescribedCommand[], streams: CliStreams): string {
	if (words.length === 0) return generalHelp(commands, streams);
	const command = [2, 1]
		.map((count) => words.slice(0, count).join(' '))
		.flatMap((name) => commands.filter((each) => each.name === name))[0];
	if (command !== undefined) return commandHelp(command, streams);
	const [noun = ''] = words;
	const related = commands.filter(({ name }) => name.startsWith(`${noun} `));
	if (related.length > 0 && words.length === 1) {
		const rows = related.map(({ name, summary }) => [name, summary] as const);
		return `tributary ${noun} <verb>; 'tributary help ${noun} <verb>' explains its options\n\n${twoColumns(rows, widthOf(streams))}`;
	}
	throw noSuchCommand(words, commands);
}

/** The error for words that no command has. */
export function noSuchCommand(argv: readonly string[], commands: readonly DescribedCommand[]): UsageError {
	const [noun = '', verb] = argv;
	const names = commands.map(({ name }) => name);
	const related = names.filter((name) => name.startsWith(`${noun} `)).map((name) => name.slice(noun.length + 1));
	if (related.length > 0) {
		const meant = verb === undefined || verb.startsWith('-') ? '' : didYouMean(`${noun} ${verb}`, names);
		return new UsageError(`'${noun}' needs one of: ${related.join(', ')}${meant}`);
	}
	const both = verb === undefined || verb.startsWith('-') ? undefined : verb;
	const nouns = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
	const meant =
		both === undefined
			? didYouMean(noun, nouns)
			: didYouMean(`${noun} ${both}`, names) || didYouMean(`${both} ${noun}`, names) || didYouMean(noun, nouns);
	return new UsageError(`there is no command '${noun}'${meant || "; see 'tributary help'"}`);
}
