import { decodeXml } from '#hl7v3/encoding.ts';

interface Tag {
	/** The name as written, with its prefix. */
	name: string;
	/** The index of its `<`, and the index behind its `>`. */
	start: number;
	end: number;
	kind: 'opening' | 'closing' | 'empty';
}

/** Parts of a document that hold no tags, with their begin and end marks. */
const others = [
	['<!--', '-->'],
	['<![CDATA[', ']]>'],
	['<?', '?>'],
] as const;
const tag = /<(\/?)([^\s/>]+)[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>/y;

/** The tags of well-formed XML, each character looked at once. */
function* tagsOf(text: string): Generator<Tag> {
	for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
		const other = others.find(([begin]) => text.startsWith(begin, at));
		if (other) {
			at = text.indexOf(other[1], at) + other[1].length;
			continue;
		}
		tag.lastIndex = at;
		const [whole = '', slash, name = ''] = tag.exec(text) ?? [];
		if (whole === '') return;
		const kind = slash === '/' ? 'closing' : whole.endsWith('/>') ? 'empty' : 'opening';
		yield { name, start: at, end: at + whole.length, kind };
		at += whole.length;
	}
}

const declaration = /\s(xmlns(?::[^\s=]+)?)\s*=\s*("[^"]*"|'[^']*')/g;

/**
 * The document that is the body of a SOAP envelope, in UTF-8, character for character, with the namespaces that the envelope
 * declares for it. `bytes` are those of well-formed XML; undefined where it has no such body.
 */
export function cutOut(bytes: Uint8Array): Uint8Array | undefined {
	const text = decodeXml(bytes);
	const open: Tag[] = [];
	let document: Tag | undefined;
	let declared = '';
	for (const found of tagsOf(text)) {
		if (found.kind === 'closing') open.pop();
		else if (document === undefined && open.length === 2 && localName(open[1]) === 'Body') {
			document = found;
			declared = inherited(text, open, found);
		}
		if (found.kind === 'opening') open.push(found);
		if (document && open.length === 2) {
			const begin = document.start + 1 + document.name.length;
			return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n<${document.name}${declared}${text.slice(begin, found.end)}`);
		}
	}
	return undefined;
}

function localName(found: Tag | undefined): string {
	return found?.name.replace(/^.*:/, '') ?? '';
}

/** The declarations of what is around a tag, which it does not make itself. */
function inherited(text: string, around: readonly Tag[], { start, end }: Tag): string {
	const own = new Set([...text.slice(start, end).matchAll(declaration)].map(([, name]) => name));
	const declared = new Map<string, string>();
	for (const outer of around) {
		for (const [, name = '', value = ''] of text.slice(outer.start, outer.end).matchAll(declaration)) {
			if (!own.has(name)) declared.set(name, value);
		}
	}
	return [...declared].map(([name, value]) => ` ${name}=${value}`).join('');
}
