import { useEffect } from 'preact/hooks';
import type { Point } from '../../components/chart.tsx';
import { useKept } from '../../store.ts';
import { hourMs } from './figures.ts';

/** The service tells what is used now; what it told while the console has been open makes the line. */
export function useStorage(used: number | null): Point[] {
	const [readings, setReadings] = useKept<Point[]>('overview storage', []);
	useEffect(() => {
		const at = Date.now();
		if (used !== null) setReadings([...readings.filter((reading) => reading.at > at - hourMs), { at, value: used }]);
	}, [used]);
	return used === null ? [] : [...readings, { at: Date.now(), value: used }];
}
