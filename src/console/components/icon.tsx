/** Strokes on a grid of 24. They accompany words and add no meaning. */
const paths = {
	overview: 'M4 13h4l3-8 4 15 2.5-7H21',
	messages: 'M4 5h16v11H9l-5 4z M8 9h8 M8 12.5h5',
	failures: 'M12 4 2.8 20h18.4z M12 10v4.5 M12 17.3v.2',
	patients: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M4.5 20.5c.6-4 3.6-6 7.5-6s6.9 2 7.5 6',
	studies: 'M4 4h16v16H4z M4 9h16 M9 9v11',
	reports: 'M6 3h9l4 4v14H6z M9.5 11h6 M9.5 14.500h6 M9.5 18h3',
	identity: 'M8.5 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M2.5 19.500c.4-3.5 2.8-5 6-5 M15 9l3-3 3 3 M18 6v8 M15 17l3 3 3-3 M18 20v-6',
	conflicts: 'M7 4v6c0 4 10 2 10 6v4 M17 4v6c0 1.5-1.5 2.2-3.5 2.8 M7 20v-4c0-1 .6-1.7 1.5-2.2',
	steps: 'M4 12h4l2-5 4 10 2-5h4',
	commitments: 'M12 3.500 5 6v6c0 4.500 3 7.500 7 8.500 4-1 7-4 7-8.500V6z M8.5 12l2.5 2.500 4.500-5',
	sites: 'M4 21V8l8-4.500L20 8v13 M9 21v-6h6v6 M9 10.500h.1 M15 10.500h.1 M2.5 21h19',
	clients: 'M4 7h10 M11 4l3 3-3 3 M20 17H10 M13 14l-3 3 3 3',
	keys: 'M15 4a5 5 0 1 1-3.7 8.300L4 19.500V21h3v-2.500h2.500V16l2-2 M16 8h.1',
	remotes: 'M12 12h.1 M8.5 15.500a5 5 0 0 1 0-7 M15.5 8.500a5 5 0 0 1 0 7 M5.6 18.400a9 9 0 0 1 0-12.8 M18.4 5.600a9 9 0 0 1 0 12.8',
	users:
		'M9 11.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z M2.5 19.500c.5-3.6 3-5.3 6.5-5.300s6 1.7 6.5 5.3 M16 4.700a3.5 3.5 0 0 1 0 6.6 M18 14.700c2 .7 3.2 2.3 3.5 4.8',
	audit: 'M5 3.500h14v17H5z M8.5 8.500l1.2 1.200L12 7.5 M8.5 15l1.2 1.200L12 14 M14.5 9h2 M14.5 15.500h2',
	retention: 'M6.5 3.5h11 M6.5 20.5h11 M8 3.5c0 5 8 5.500 8 8.500s-8 3.500-8 8.500 M16 3.500c0 5-8 5.500-8 8.500s8 3.500 8 8.500',
	profiles: 'M6 3h9l4 4v14H6z M9.5 13.500l2 2 4-4.500 M9.5 8h4',
	menu: 'M4 7h16 M4 12h16 M4 17h16',
	close: 'M6 6l12 12 M18 6 6 18',
	copy: 'M9 9h11v11H9z M5 15H4V4h11v1',
	check: 'M5 12.500l4.5 4.500L19 7.5',
	plus: 'M12 5v14 M5 12h14',
	search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z M15.5 15.5 20.5 20.5',
	light:
		'M12 16.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z M12 2v2.5 M12 19.500V22 M2 12h2.5 M19.5 12H22 M5 5l1.7 1.7 M17.3 17.3 19 19 M19 5l-1.7 1.7 M6.7 17.3 5 19',
	dark: 'M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500z',
	auto: 'M4 5h16v11H4z M9 20h6 M12 16v4',
	person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M4.5 20.500c.6-4 3.6-6 7.5-6s6.9 2 7.5 6',
	back: 'M14.5 5.5 8 12l6.5 6.5',
	down: 'M6 9.500l6 6 6-6',
	refresh: 'M19.5 8A8 8 0 1 0 20 13.5 M20 4v4.500h-4.5',
	download: 'M12 4v11 M7.5 11l4.5 4.500L16.5 11 M5 20h14',
	print: 'M7 8V3.500h10V8 M7 17H4V8h16v9h-3 M7 13.500h10V20.500H7z',
	replay: 'M4.5 8A8 8 0 1 1 4 13.5 M4 4v4.500h4.5',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
	return (
		<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
			<path d={paths[name]} />
		</svg>
	);
}

/** The logo of the product: streams that join. */
export function Mark() {
	return (
		<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
			<rect width="32" height="32" rx="8" />
			<path d="M8 6c0 7 8 6 8 13v7 M24 6c0 7-8 6-8 13 M16 6v13" />
		</svg>
	);
}
