import { canonical, type Json, type JsonObject } from '#core/json.ts';

/** What a report says under one heading, which is the name of an OBX-3. */
export interface ReportSection {
	heading: string;
	text: string;
}

/** What a report says for people: its text and documents, and its conclusion. */
export type ReportWords = Partial<Record<'presentedForm' | 'conclusion', Json>>;

/** The media type of a report's text, among its documents. */
export const reportTextType = 'text/plain; charset=utf-8';

const wordElements = ['conclusion', 'presentedForm'] as const;

/** Joins sections to one text. Several of them each stand under their heading. */
export function joinedSections(sections: readonly ReportSection[]): string {
	const filled = sections.filter(({ text }) => text !== '');
	return filled.map((section) => (filled.length > 1 ? headed(section) : section.text)).join('\n\n');
}

/** Returns a section under its heading. */
export function headed({ heading, text }: ReportSection): string {
	return heading === '' ? text : `${heading}\n${text}`;
}

export function wordsOf(report: JsonObject | undefined): ReportWords {
	const words: ReportWords = {};
	for (const name of wordElements) if (report?.[name] !== undefined) words[name] = report[name];
	return words;
}

/** Returns the words of a report with an addendum behind its text (v2.5.1 §7.2.4.2, suffix ADT). One that is there already is not added again. */
export function withAddendum(held: ReportWords, addendum: string, stated: ReportWords): ReportWords {
	const forms = formsOf(held);
	const at = forms.findIndex(isText);
	const text = at < 0 ? '' : textOf(forms[at]);
	if (addendum !== '' && !hasLines(text, addendum)) {
		const whole = asData(text === '' ? addendum : `${text}\n\n${addendum}`);
		if (at < 0) forms.unshift({ ...formsOf(stated).find(isText), data: whole });
		else forms[at] = { ...forms[at], data: whole };
	}
	const known = new Set(forms.map(contentOf));
	for (const form of formsOf(stated)) if (!isText(form) && !known.has(contentOf(form))) forms.push(form);
	return {
		...held,
		...(forms.length > 0 ? { presentedForm: forms } : {}),
		...(stated['conclusion'] === undefined ? {} : { conclusion: stated['conclusion'] }),
	};
}

/**
 * Returns the words of a report that its results in force still say, because a message has withdrawn some of them (table 0085: D, W). What
 * none of them says is not known to be in force, and is left out.
 */
export function inForce(held: ReportWords, results: readonly JsonObject[]): ReportWords {
	const said = results.flatMap((result) => sectionOf(result) ?? []);
	const documents = new Set(results.flatMap(attachmentsOf).map(contentOf));
	const forms = formsOf(held).flatMap((form) => {
		if (!isText(form)) return documents.has(contentOf(form)) ? [form] : [];
		const before = textOf(form);
		const text = joinedSections(said.filter((section) => hasLines(before, section.text)));
		return text === '' ? [] : [{ ...form, data: asData(text) }];
	});
	const conclusion = said.map(({ text }) => text).filter((text) => hasLines(held['conclusion'], text));
	return {
		...(forms.length > 0 ? { presentedForm: forms } : {}),
		...(conclusion.length > 0 ? { conclusion: conclusion.join('\n') } : {}),
	};
}

/** Tells whether the text of a report has something of the results that another text does not have. */
export function saysMore(held: ReportWords, next: ReportWords, results: readonly JsonObject[]): boolean {
	const [before, after] = [held, next].map((words) => formsOf(words).filter(isText).map(textOf).join('\n')) as [string, string];
	return results.some((result) => {
		const text = sectionOf(result)?.text;
		return text !== undefined && hasLines(before, text) && !hasLines(after, text);
	});
}

/** Tells whether a text has the lines of another one, and not only a part of a line. */
function hasLines(whole: Json | undefined, lines: string): boolean {
	return typeof whole === 'string' && `\n${whole}\n`.includes(`\n${lines}\n`);
}

/** Undefined for a result without a text. */
function sectionOf(result: JsonObject): ReportSection | undefined {
	const text = result['valueString'];
	if (typeof text !== 'string' || text.trim() === '') return undefined;
	const { text: name, coding } = (result['code'] ?? {}) as { text?: string; coding?: { display?: string; code?: string }[] };
	return { heading: name ?? coding?.[0]?.display ?? coding?.[0]?.code ?? '', text: text.replace(/^\n+|\s+$/g, '') };
}

/** The documents of a result: ED and RP, also where OBX-5 repeats. */
function attachmentsOf(result: JsonObject): JsonObject[] {
	const components = (result['component'] ?? []) as JsonObject[];
	const extensions = [result, ...components].flatMap((holder) => (holder['extension'] ?? []) as JsonObject[]);
	return extensions.flatMap(({ valueAttachment }) => (valueAttachment === undefined ? [] : [valueAttachment as JsonObject]));
}

function formsOf(words: ReportWords): JsonObject[] {
	return [...((words['presentedForm'] ?? []) as JsonObject[])];
}

function isText(form: JsonObject): boolean {
	return form['contentType'] === reportTextType && form['data'] !== undefined;
}

function textOf(form: JsonObject | undefined): string {
	return Buffer.from(String(form?.['data'] ?? ''), 'base64').toString('utf8');
}

function asData(text: string): string {
	return Buffer.from(text, 'utf8').toString('base64');
}

/** The title of a report's document is that of the report. */
function contentOf({ title: _title, ...form }: JsonObject): string {
	return canonical(form as Json);
}
