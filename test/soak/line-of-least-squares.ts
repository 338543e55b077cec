/** Returns by how much the line of least squares through the points rises from the first to the last of them. */
export function riseOf(points: readonly (readonly [number, number])[]): number {
	const [first, last] = [points[0], points.at(-1)];
	if (first === undefined || last === undefined || points.length < 2) return 0;
	const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
	const [meanX, meanY] = [mean(0), mean(1)];
	let above = 0;
	let below = 0;
	for (const [x, y] of points) {
		above += (x - meanX) * (y - meanY);
		below += (x - meanX) ** 2;
	}
	return below === 0 ? 0 : (above / below) * (last[0] - first[0]);
}
