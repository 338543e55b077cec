/** Shows a sentence of Markdown: code as code, and a link into the documents by its text. */
export function Prose({ text }: { text: string }) {
	const pieces = text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').split('`');
	return <>{pieces.map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>;
}
