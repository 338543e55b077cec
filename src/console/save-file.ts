/** Hands a file to the user as a download. */
export function saveFile(name: string, type: string, content: BlobPart): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(new Blob([content], { type }));
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
