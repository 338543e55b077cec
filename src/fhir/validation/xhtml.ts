import { SaxesParser, type SaxesTagPlain } from 'saxes';

/**
 * Checks the XHTML of Narrative.div (R4 §2.4.2, txt-1 and txt-2): well-formed, with the elements and attributes of HTML 4.0 that a
 * narrative may
 * have, without scripts, forms and frames. saxes reads it; nothing is built, and the first fault ends the reading.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const elements = words(
	'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li map ol p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var',
);
const attributes = words(
	'abbr accesskey align alt axis border cellpadding cellspacing char charoff charset cite class colspan coords dir frame headers height href hreflang id idref ismap lang longdesc name nowrap rel rev rowspan rules scope shape space span src style summary tabindex title type usemap valign width xml:lang xml:space xmlns',
);
/** Attributes whose value is a URL. */
const urls = words('cite href longdesc src usemap');
const schemes = words('cid ftp http https mailto tel urn');
const namespace = 'http://www.w3.org/1999/xhtml';
/** No narrative that people read is nested so deep; the bound keeps the stack small. */
const depthMax = 100;

/** Matches an image inside its URL. SVG is left out, because it may hold scripts. */
const imageData = /^data:image\/(?:bmp|gif|jpe?g|png|tiff|webp)[;,]/i;
/** Browsers skip control characters and spaces in a scheme, at any position. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: see above.
const skipped = /[\s\u0000-\u001f\u007f-\u009f]/g;
/** XML defines five names, browsers two thousand more, such as `&colon;` and `&Tab;`. */
const namedReference = /&[a-z][a-z\d]*;/i;
/** Matches markup that is no comment, or that browsers read as another comment: to them `<!-->` and `<!--->` end where they begin. */
const otherMarkup = /<\?|<!(?!--(?!-?>))/;
const xmlSpace = /^[ \t\r\n]*$/;

const malformed = 'The XHTML is not well-formed (txt-1)';
const wrongRoot = `The XHTML is one div of the namespace ${namespace} (txt-1)`;

/** Ends the reading. */
class Fault extends Error {
	override readonly name = 'Fault';
}

/** Returns a description of the fault, or undefined. */
export function xhtmlFault(source: string): string | undefined {
	const text = source.trim();
	if (!/^<div[\s>]/.test(text)) return wrongRoot;
	if (otherMarkup.test(text) || text.endsWith('-->')) return malformed;
	try {
		return hasContent(text) ? undefined : 'The XHTML has some content (txt-2)';
	} catch (error) {
		if (error instanceof Fault) return error.message;
		throw error;
	}
}

/** @throws Fault */
function hasContent(text: string): boolean {
	let depth = 0;
	let found = false;
	const parser = new SaxesParser({ xmlns: false, position: false });
	// The parser's own table inherits from Object, so that `&constructor;` would be an entity.
	parser.ENTITIES = Object.assign(Object.create(null), { amp: '&', gt: '>', lt: '<', quot: '"', apos: "'" });
	parser.on('error', ({ message }) => {
		// An HTML entity name in a text is left to the program that displays it.
		if (message !== 'undefined entity.') throw new Fault(malformed);
	});
	parser.on('opentag', (tag) => {
		checkElement(tag, depth === 0);
		depth += 1;
		if (depth > depthMax) throw new Fault(`The XHTML is nested more than ${depthMax} deep`);
		found ||= tag.name === 'img';
	});
	parser.on('closetag', () => {
		depth -= 1;
	});
	parser.on('text', (run) => {
		found ||= !xmlSpace.test(run);
	});
	parser.write(text).close();
	return found;
}

/** @throws Fault */
function checkElement({ name, attributes: given }: SaxesTagPlain, isRoot: boolean): void {
	if (!elements.has(name)) throw new Fault('The XHTML has an element that a narrative may not have (txt-1)');
	for (const [attribute, value] of Object.entries(given)) {
		if (!attributes.has(attribute)) throw new Fault('The XHTML has an attribute that a narrative may not have (txt-1)');
		if (urls.has(attribute) && !isHarmless(value, name === 'img' && attribute === 'src')) {
			throw new Fault('The XHTML has a URL that a narrative may not have (txt-1)');
		}
		if (attribute === 'style' && !isHarmlessStyle(value)) throw new Fault('The XHTML has a style that a narrative may not have (txt-1)');
	}
	const space = given['xmlns'];
	if (space !== namespace && (isRoot || space !== undefined)) throw new Fault(wrongRoot);
}

/** Older browsers run scripts from these. */
const scripted = /expression\(|(?:java|vb)script:|behaviou?r:|-moz-binding|@import/i;

/** Tells whether a style runs no script and fetches nothing but what an image may. CSS has escapes and comments of its own. */
function isHarmlessStyle(value: string): boolean {
	const style = value
		.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '')
		.replace(/\\(?:([\da-f]{1,6})\s?|([\s\S]))/gi, (_, code: string | undefined, character: string | undefined) =>
			code === undefined ? (character ?? '') : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)),
		)
		.replace(skipped, '');
	if (scripted.test(style)) return false;
	return [...style.matchAll(/url\(["']?([^"')]*)/gi)].every(([, url = '']) => isHarmless(url, true));
}

/** Tells whether a URL is relative, has a known scheme, or is an image in place of its URL. */
function isHarmless(value: string, isImage: boolean): boolean {
	const url = value.replace(skipped, '');
	if (namedReference.test(url)) return false;
	const [start = ''] = url.split(/[/?#]/, 1);
	const colon = start.indexOf(':');
	if (colon < 0 || schemes.has(start.slice(0, colon).toLowerCase())) return true;
	return isImage && imageData.test(url);
}
