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

/**
 * Joins sections to one text. What follows under the same heading are the lines of one section, without the blank ones at both ends. Several sections each stand
 * under their heading.
 */
export function joinedSections(parts: readonly ReportSection[], { isAlwaysHeaded = false } = {}): string {
	const sections: ReportSection[] = [];
	for (const { heading, text } of parts) {
		const last = sections.at(-1);
		if (last?.heading === heading) last.text += `\n${text}`;
		else sections.push({ heading, text });
	}
	const filled = sections.map(({ heading, text }) => ({ heading, text: text.replace(/^\n+|\n+$/g, '') })).filter(({ text }) => text !== '');
	const isHeaded = isAlwaysHeaded || filled.length > 1;
	return filled.map(({ heading, text }) => (isHeaded && heading !== '' ? `${heading}\n${text}` : text)).join('\n\n');
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
	const said = results.flatMap(sectionOf);
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

/** Tells whether the words of a report say some of the results. */
export function saysAny(words: ReportWords, results: readonly JsonObject[]): boolean {
	const text = wholeText(words);
	return results.some((result) => sectionOf(result).some((section) => hasLines(text, section.text)));
}

/**
 * Returns the words of a report of which a message states some sections anew. The others, which are results in force, stay. `results` are all results
 * in force, in the order of the report.
 */
export function withSections(
	held: ReportWords,
	stated: ReportWords,
	results: readonly JsonObject[],
	left: readonly JsonObject[],
): ReportWords {
	const kept = inForce(held, left);
	const [before, after] = [wholeText(kept), wholeText(stated)];
	const text = joinedSections(
		results.flatMap(sectionOf).filter((section) => hasLines(before, section.text) || hasLines(after, section.text)),
	);
	const [form] = [...formsOf(stated), ...formsOf(held)].filter(isText);
	const documents = [...formsOf(kept), ...formsOf(stated)].filter((one) => !isText(one));
	const forms = [...(form === undefined || text === '' ? [] : [{ ...form, data: asData(text) }]), ...documents];
	return { ...kept, ...stated, ...(forms.length > 0 ? { presentedForm: forms } : {}) };
}

function wholeText(words: ReportWords): string {
	return formsOf(words).filter(isText).map(textOf).join('\n');
}

/** Tells whether a text has the lines of another one, and not only a part of a line. */
function hasLines(whole: Json | undefined, lines: string): boolean {
	return typeof whole === 'string' && `\n${whole}\n`.includes(`\n${lines}\n`);
}

/** Empty for a result without a text. */
function sectionOf(result: JsonObject): ReportSection[] {
	const text = result['valueString'];
	if (typeof text !== 'string' || text.trim() === '') return [];
	return [{ heading: headingOf(result['code'] as Concept | undefined), text: text.replace(/^\n+|\s+$/g, '') }];
}

interface Concept {
	text?: string;
	coding?: { display?: string; code?: string }[];
}

/** Returns the heading under which a report says the results of a code. */
export function headingOf({ text, coding }: Concept = {}): string {
	return text ?? coding?.[0]?.display ?? coding?.[0]?.code ?? '';
}

/** The documents of a result: ED and RP, also where OBX-5 repeats. */
export function attachmentsOf(result: JsonObject): JsonObject[] {
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
