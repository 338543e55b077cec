import { isRawJson, type Json, type JsonObject } from '#core/json.ts';

export type Step = string | number;

/** Is shown a text of a resource: the object or list that holds it, its name or position there, and the steps to the holder. */
export type VisitText = (text: string, holder: JsonObject | Json[], key: Step, steps: readonly Step[]) => void;

/** Shows every text of a resource, contained ones included. The visit may replace it in its holder. */
export function visitTexts(resource: JsonObject, visit: VisitText): void {
	walk(resource, [], visit);
}

/** The steps are one list that grows and shrinks, because most visits need none of them. */
function walk(holder: JsonObject | Json[], steps: Step[], visit: VisitText): void {
	if (Array.isArray(holder)) {
		for (let at = 0; at < holder.length; at++) show(holder[at], holder, at, steps, visit);
		return;
	}
	for (const name in holder) show(holder[name], holder, name, steps, visit);
}

function show(value: Json | undefined, holder: JsonObject | Json[], key: Step, steps: Step[], visit: VisitText): void {
	if (typeof value === 'string') visit(value, holder, key, steps);
	if (value === null || typeof value !== 'object' || isRawJson(value)) return;
	steps.push(key);
	walk(value, steps, visit);
	steps.pop();
}

/** Tells whether the text is that of a Reference. No other element of R4 has a text of this name. */
export function isReference(holder: JsonObject | Json[], key: Step): holder is JsonObject {
	return key === 'reference' && !Array.isArray(holder);
}

/** Puts another text in the place of one that was shown. */
export function replaceText(holder: JsonObject | Json[], key: Step, text: string): void {
	if (!Array.isArray(holder)) holder[key] = text;
	else if (typeof key === 'number') holder[key] = text;
}
