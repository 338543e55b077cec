import type { XmlElement } from '#hl7v3/element.ts';
import { Budget, type Reading, type ReadingLimits } from './reading.ts';

/** Writes a document with one element per line, indented by depth. */
export function readXmlTree(root: XmlElement, limits: ReadingLimits): Reading {
	const budget = new Budget(limits);
	const lines: string[] = [];
	write(root, '', lines, budget);
	return { format: 'xml', text: lines.join('\n'), is_cut: budget.isCut };
}

/** `readXml` limits the depth. */
function write(element: XmlElement, indent: string, lines: string[], budget: Budget): void {
	if (!budget.spend()) return;
	const attributes = Object.entries(element.attributes).map(([name, value]) => ` ${name}="${budget.cut(escaped(value)).value}"`);
	const open = `${indent}<${element.name}${attributes.join('')}`;
	const [only] = element.content;
	if (only === undefined) {
		lines.push(`${open}/>`);
	} else if (element.content.length === 1 && typeof only === 'string') {
		lines.push(`${open}>${budget.cut(escaped(only.trim())).value}</${element.name}>`);
	} else {
		lines.push(`${open}>`);
		for (const node of element.content) {
			if (typeof node !== 'string') write(node, `${indent}  `, lines, budget);
			else if (node.trim() !== '' && budget.spend()) lines.push(`${indent}  ${budget.cut(escaped(node.trim())).value}`);
		}
		lines.push(`${indent}</${element.name}>`);
	}
}

function escaped(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
