import { saveCsv } from '../csv.ts';
import { Button } from './button.tsx';

/** Saves rows that are here already as a file, under the names that their members have in the API. */
export function CsvButton({ name, rows }: { name: string; rows: readonly object[] }) {
	return (
		<Button icon="download" onClick={() => saveCsv(name, rows)}>
			CSV
		</Button>
	);
}
