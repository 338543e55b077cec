import { csvOf } from '../csv.ts';
import { saveFile } from '../save-file.ts';
import { Button } from './button.tsx';

/** Saves rows that are here already as a file, under the names that their members have in the API. */
export function CsvButton({ name, rows }: { name: string; rows: readonly object[] }) {
	return (
		<Button icon="download" onClick={() => saveFile(`${name}.csv`, 'text/csv;charset=utf-8', csvOf(rows))}>
			CSV
		</Button>
	);
}
