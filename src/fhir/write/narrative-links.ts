/**
 * Matches a comment, and the start tag of a link or image with its attributes. The XHTML was checked before, so every attribute has a value
 * in
 * quotes, and nothing else looks like a tag.
 */
const linkTag = /<!--[\s\S]*?-->|<(?:a|img)(?:\s+[^\s=>"'/]+\s*=\s*(?:"[^"]*"|'[^']*'))+/g;
const attribute = /(\s+)([^\s=>"'/]+)(\s*=\s*)("[^"]*"|'[^']*')/g;

/** Tells whether a narrative has links or images; most have none. */
export function mayHaveLinks(div: string): boolean {
	return div.includes('href') || div.includes('src');
}

/** Replaces the addresses of `<a href>` and `<img src>` for which another is returned. Everything else stays as it is written. */
export function relinked(div: string, other: (url: string) => string | undefined): string {
	return div.replace(linkTag, (tag) => {
		if (tag.startsWith('<!--')) return tag;
		return tag.replace(attribute, (given: string, space: string, name: string, equals: string, quoted: string) => {
			const found = name === 'href' || name === 'src' ? other(decoded(quoted.slice(1, -1))) : undefined;
			return found === undefined ? given : `${space}${name}${equals}"${encoded(found)}"`;
		});
	});
}

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(value: string): string {
	if (!value.includes('&')) return value.trim();
	return value
		.replace(/&(?:#x([\dA-Fa-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/g, (_all, hex?: string, decimal?: string, name?: string) => {
			if (name !== undefined) return names[name] ?? '';
			const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
			return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
		})
		.trim();
}

function encoded(url: string): string {
	return url.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
